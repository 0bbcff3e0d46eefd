/*
 * frame.c - calls up to Python 3.11: a function of ours around the interpreter's own (PEP 523).
 *
 * It is called for every frame and costs a fraction of what PyEval_SetProfile does, which makes the
 * interpreter leave its fast path for each instruction. What filters leave out is handed on at
 * once. Begin and end are in one C function, so nothing can come unpaired; all threads are seen;
 * and the program may use sys.setprofile() and cProfile as it likes. Whoever puts himself in front
 * of us (torch.compile does) hands on what he leaves alone.
 *
 * One thing is different for a program: in 3.11 a call from Python to Python needs no C stack, but
 * through us it does. When half of a thread's stack is used up we step aside.
 */
#include "core.h"

#if !UT_PY_MONITORING

#if PY_VERSION_HEX >= 0x030b0000
#define Py_BUILD_CORE_MODULE 1
#include <internal/pycore_frame.h>
typedef struct _PyInterpreterFrame frame_type;

/* Such a call only makes the generator or coroutine: it has not begun. */
static bool is_made(const frame_type *frame)
{
	return frame->f_code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR) &&
	       frame->owner != FRAME_OWNED_BY_GENERATOR;
}
#else
#include <frameobject.h>
typedef PyFrameObject frame_type;

static bool is_made(const frame_type *frame)
{
	(void)frame;
	return false;
}
#endif

static bool running;
static bool waiting; /* for the end of the interpreter's own start */

static PyObject *on_frame(PyThreadState *thread, frame_type *frame, int throwing);

static void py_frame_put(_PyFrameEvalFunction function, _PyFrameEvalFunction instead_of)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();

	if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == instead_of)
		_PyInterpreterState_SetEvalFrameFunc(interpreter, function);
}

/* The program begins with the first frame that has none below it; see ut_py_ready. */
static bool still_waiting(PyThreadState *thread, const frame_type *frame)
{
	PyFrameObject *below = PyThreadState_GetFrame(thread);

	waiting = below || ut_py_is_search(frame->f_code);
	Py_XDECREF(below);
	return waiting;
}

static __attribute__((noinline)) PyObject *go_deep(PyThreadState *thread, frame_type *frame,
						   int throwing)
{
	PyObject *result;

	py_frame_put(_PyEval_EvalFrameDefault, on_frame);
	result = _PyEval_EvalFrameDefault(thread, frame, throwing);
	if (running)
		py_frame_put(on_frame, _PyEval_EvalFrameDefault);
	return result;
}

static PyObject *on_frame(PyThreadState *thread, frame_type *frame, int throwing)
{
	const struct ut_py_code *info;
	struct ut_py_place place;
	PyObject *result;

	if (!running || is_made(frame) || (waiting && still_waiting(thread, frame)))
		return _PyEval_EvalFrameDefault(thread, frame, throwing);
	if (ut_py_is_deep())
		return go_deep(thread, frame, throwing);
	info = ut_py_code_in(frame->f_code, frame->f_globals);
	if (!info || !info->zone)
		return _PyEval_EvalFrameDefault(thread, frame, throwing);
	place = ut_py_enter_at(frame->f_code, info->zone);
	result = _PyEval_EvalFrameDefault(thread, frame, throwing);
	ut_py_leave_at(place);
	return result;
}

bool ut_py_frames_free(void)
{
	_PyFrameEvalFunction now = _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());

	/* Behind somebody else we would be called twice, or never. */
	return now == _PyEval_EvalFrameDefault || now == on_frame;
}

void ut_py_frames_start(bool whole)
{
	running = true;
	waiting = whole;
	py_frame_put(on_frame, _PyEval_EvalFrameDefault);
}

bool ut_py_frames_stop(void)
{
	bool was = running;

	running = false;
	py_frame_put(_PyEval_EvalFrameDefault, on_frame);
	return was;
}

#endif
