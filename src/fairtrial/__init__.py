"""fairtrial: every change to your agent gets a fair trial."""

TYPE_CHECKING = False  # importing typing for it would take longer than all the rest
if TYPE_CHECKING:
    from fairtrial.sdk.record_session import RecordedSession as RecordedSession
    from fairtrial.sdk.record_session import record_session as record_session

__version__ = "0.1.0"

_PLACES = {
    "RecordedSession": "fairtrial.sdk.record_session",
    "record_session": "fairtrial.sdk.record_session",
}
"""Where each public name is: it is loaded on first use, for most commands need none of them."""

__all__ = ["RecordedSession", "__version__", "record_session"]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415  # only for who uses one

    return getattr(importlib.import_module(_PLACES[name]), name)
