"""The layers of the course, one idea per file, each tested against torch in float64."""
