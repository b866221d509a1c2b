"""The computation behind the course. `import engine` is light: torch is imported by the labs, not here."""
