"""The interface of Intel's ittapi package, so that programs written for it need not change.

    from unitrace import ittapi     # or, under the launcher, plain `import ittapi`

Where the vendor's package is installed it may be used as well: both write into the same recording.
"""
from .._marks import detach, pause, resume, thread_name as thread_set_name
from . import collection_control
from ._control import ActiveRegion, PausedRegion, active_region, paused_region
from ._objects import Domain, Id, StringHandle, domain, id, string_handle
from ._tasks import (Event, NestedTask, OverlappedTask, event, nested_task, overlapped_task,
                     pt_region, task, task_begin, task_begin_overlapped, task_end,
                     task_end_overlapped)

__all__ = ["ActiveRegion", "Domain", "Event", "Id", "NestedTask", "OverlappedTask", "PausedRegion",
           "StringHandle", "active_region", "collection_control", "detach", "domain", "event", "id",
           "nested_task", "overlapped_task", "pause", "paused_region", "pt_region", "resume",
           "string_handle", "task", "task_begin", "task_begin_overlapped", "task_end",
           "task_end_overlapped", "thread_set_name"]
