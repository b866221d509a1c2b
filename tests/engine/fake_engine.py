"""An engine with labs that misbehave: `python -m tests.engine.fake_engine`."""

from engine.host import serve

if __name__ == "__main__":
    serve(declarations="tests.engine.fake_labs", labs="tests.engine.fake_labs")
