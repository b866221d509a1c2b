"""The command line: a second front end. One file per command; Textual is imported by the one that opens the app."""
