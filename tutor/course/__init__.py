"""The course as data: what a lesson is, how its files are read, graded and checked. No Textual here."""
