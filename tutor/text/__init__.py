"""Text for terminals: widths, line breaking, lesson prose, formulas. Knows nothing of Textual."""
