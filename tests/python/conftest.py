"""Options of the Python tests."""


def pytest_addoption(parser):
    parser.addoption("--count", type=int, default=4, help="bad signatures tried for each op")
