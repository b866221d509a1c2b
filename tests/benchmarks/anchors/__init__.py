"""What the product is measured against: the least that does the same thing, each a program of its own."""
