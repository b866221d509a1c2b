"""Imports that the first frame did without, made in a thread while the learner begins to read.

Python changes threads every 5 ms at the latest, so that a key never waits long; in the app's own thread the same
imports would hold up keys for a third of a second.
"""

from __future__ import annotations

from importlib import import_module

ENGINE = ("tutor.engine_client.client", "tutor.runs")
SCREENS = ("tutor.course.grade", "tutor.widgets.question", "tutor.screens.beside", "tutor.screens.quoted")
SAMPLE = "*a*, $x_1$\n\n|a|b|\n|-|-|\n|1|2|\n\n$$\\sum_i \\frac{1}{\\sqrt{x_i}}$$"
PICTURES = ("tutor.widgets.figure", "tutor.pictures.panel", "tutor.pictures.heatmap", "tutor.pictures.plotext_adapter")


def import_all(modules: tuple[str, ...]) -> None:
    """Import modules, so that whoever needs them next finds them there."""
    for module in modules:
        import_module(module)


def import_screens() -> None:
    """Import what completes a step; laying out a little of everything imports what reads Markdown and formulas."""
    from tutor.text.prose import render

    render(SAMPLE, 40)
    import_all(SCREENS)


def import_pictures() -> None:
    """Import what figures are drawn with."""
    import_all(PICTURES)
    from tutor.pictures.plotext_adapter import warm_up

    warm_up()
