#!/usr/bin/env python3
"""The table of record types in docs/formats/spool.md, made from UT_REC_LIST in src/record/wire/spool.h.

    tools/gen_spool_table.py            print the table
    tools/gen_spool_table.py --write    put it into the document

The numbers and the words of a record come from the header; what a record stands for is said here,
once. tools/check_docs.py fails when a type has no meaning here, or when the document is stale.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
HEADER = SOURCE / "src/record/wire/spool.h"
DOCUMENT = SOURCE / "docs/formats/spool.md"
BEGIN, END = "<!-- records: begin -->", "<!-- records: end -->"

MEANING = {
    "THREAD": "from here on the chunk belongs to this thread; full time",
    "TIME": "full time, after a pause of more than 31 bits of clock",
    "STRING": "text number `id`",
    "DOMAIN": "ITT domain number `id`; its name is a string",
    "THREAD_INFO": "a thread's number in the file, its OS thread id, its kernel name, and the address of the function "
                   "it was started with (0 = unknown)",
    "THREAD_NAME": "`__itt_thread_set_name`; the last one wins",
    "CLOCK_PAIR": "one moment on all clocks (see [Time](#time))",
    "COUNTER_DEF": "`__itt_counter_create*`",
    "COUNTER_META": "`__itt_bind_context_metadata_to_counter`: unit, device, ...",
    "HISTOGRAM_DEF": "`__itt_histogram_create`",
    "CLOCK_DOMAIN": "`__itt_clock_domain_create`/`_reset`: the program's clock at our `ticks`",
    "TRACK_GROUP": "`__itt_track_group_create`",
    "TRACK": "`__itt_track_create`",
    "HEAP_FUNCTION": "`__itt_heap_function_create`",
    "PROCESS_MAP": "a mapped file, to name functions given by address",
    "JIT_METHOD": "`iJIT_NotifyEvent`: a method that was compiled at run time",
    "TASK_BEGIN": "`__itt_task_begin` with an id or a parent, or numbers too large for a word",
    "TASK_BEGIN_FN": "`__itt_task_begin_fn`",
    "TASK_BEGIN_CLOCK": "`__itt_task_begin_ex`: a task on the program's own clock",
    "TASK_END_CLOCK": "`__itt_task_end_ex`",
    "OVERLAPPED_BEGIN": "`__itt_task_begin_overlapped`",
    "OVERLAPPED_END": "`__itt_task_end_overlapped`",
    "OVERLAPPED_BEGIN_CLOCK": "`__itt_task_begin_overlapped_ex`",
    "OVERLAPPED_END_CLOCK": "`__itt_task_end_overlapped_ex`",
    "TASK_GROUP": "`__itt_task_group`: a name and a parent for an id",
    "ID_CREATE": "`__itt_id_create`",
    "ID_DESTROY": "`__itt_id_destroy`",
    "RELATION": "`__itt_relation_add*`",
    "REGION_BEGIN": "`__itt_region_begin`",
    "REGION_END": "`__itt_region_end`",
    "FRAME_BEGIN": "`__itt_frame_begin_v3`",
    "FRAME_END": "`__itt_frame_end_v3`",
    "FRAME_SUBMIT": "`__itt_frame_submit_v3`; begin and end in ticks",
    "MARKER": "`__itt_marker`, `__itt_marker_ex`",
    "MARK": "`__itt_mark`, `__itt_mark_global`",
    "MARK_OFF": "`__itt_mark_off`, `__itt_mark_global_off`",
    "EVENT_START": "`__itt_event_start`",
    "EVENT_END": "`__itt_event_end`",
    "META_NUM": "`__itt_metadata_add*`: numbers",
    "META_STR": "`__itt_metadata_str_add*`: text",
    "META_TEXT": "`__itt_formatted_metadata_add`: the finished text",
    "COUNTER": "a counter's new value, 64 bits",
    "COUNTER_CLOCK": "the same at a time of the program's own clock",
    "HISTOGRAM": "`__itt_histogram_submit`",
    "PAUSE": "`__itt_pause`, while it has an effect",
    "RESUME": "`__itt_resume`, while it has an effect",
    "DETACH": "`__itt_detach`: the last record of the process",
    "SET_TRACK": "`__itt_set_track`: tasks of this thread go to this track; 0 = back",
    "SYNC_CREATE": "`__itt_sync_create`, `_rename`: what a lock is called",
    "SYNC": "`__itt_sync_prepare`, `_cancel`, `_acquired`, `_releasing`, `_destroy`",
    "STITCH": "`__itt_stack_caller_create`, `_callee_enter`, ...",
    "HEAP": "`__itt_heap_*`",
    "MODULE": "`__itt_module_load*`, `__itt_module_unload*`",
    "MODEL": "`__itt_model_*`: sites and tasks",
    "HINT": "hints for checkers and advisors: `__itt_suppress_*`, `__itt_memory_*`, "
            "`__itt_av_save`, `__itt_pt_region_create`, the rest of `__itt_model_*`",
    "DEVICE": "a device that a backend reports",
    "QUEUE": "a queue or stream of a device",
    "NOTE": "a line for the user, from a backend",
    "CALL_BEGIN": "a call of a device's runtime begins",
    "CALL_END": "it ends; what is known about it",
    "CALL": "a call that was reported after its end",
    "WORK": "what a device did: kernel, copy, fill",
    "DEVICE_COUNTER": "a value of a device's counter",
    "METRIC_SET": "a set of metrics that a backend measures together",
    "METRIC": "one of them: number `index` of its set, and the type of its values",
    "FRAME": "a place in code that samples refer to; strings, 0 = unknown",
    "STACK": "a stack: what is called from the stack `parent` (0 = nothing)",
    "FACTS": "facts that did not fit into the record with this number",
    "VALUES": "values of a metric set, from its metric number `first` on; end 0 = a moment",
    "SAMPLE": "what a thread or a queue ran; the addresses go on from its stack, inwards",
    "MESSAGE": "an end of a message: 0 sent, 1 received, 2 passed; the id is the same at all ends",
    "ALLOCATED": "a block of memory that the program allocated; kind 0 malloc, 1 Python; sampled with 1 byte of "
                 "2^bits (0 = each is recorded); back: the block that was freed last still exists",
    "FREED": "the program is about to give it back",
    "PLACE": "a function or a line of a source file; `id` names tasks as a string's number does",
}


def records():
    """(number, name, words, heading or None) for each type, in the order of the list."""
    text = HEADER.read_text()
    body = re.search(r"#define UT_REC_LIST\(X\)(.*?)\n\n", text, re.S)[1]
    heading, number = None, 0
    for match in re.finditer(r'/\* (.*?) \*/|X\((\w+), "(.*?)"\)', body):
        if match[1]:
            heading = match[1]
            continue
        number += 1
        yield number, match[2], match[3], heading
        heading = None


def escape(text):
    """What is written in a table keeps its bars."""
    return text.replace("|", "\\|")


def table():
    lines = ["| type | name | words behind the first | stands for |", "|---:|---|---|---|"]
    for number, name, words, heading in records():
        if name not in MEANING:
            sys.exit(f"tools/gen_spool_table.py: say in MEANING what {name} stands for")
        if heading:
            lines.append(f"| | *{heading}* | | |")
        lines.append(f"| {number} | `{name}` | {escape(words)} | {MEANING[name]} |")
    gone = set(MEANING) - {name for _, name, _, _ in records()}
    if gone:
        sys.exit(f"tools/gen_spool_table.py: no longer in spool.h: {', '.join(sorted(gone))}")
    return "\n".join(lines)


def split():
    """The document before, in and behind the table."""
    text = DOCUMENT.read_text()
    before, begin, rest = text.partition(BEGIN + "\n")
    inside, end, after = rest.partition("\n" + END)
    if not begin or not end:
        sys.exit(f"{DOCUMENT}: the marks around the table are gone")
    return before + begin, inside, end + after


def main():
    if sys.argv[1:] == ["--write"]:
        before, _, after = split()
        DOCUMENT.write_text(before + table() + after)
    elif len(sys.argv) == 1:
        print(table())
    elif sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
