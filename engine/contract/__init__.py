"""What tutor and engine share: messages, parameters, reports, lab declarations. Standard library and msgspec only."""
