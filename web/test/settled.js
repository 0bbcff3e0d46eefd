// settled.js - tells tests when a page has nothing left to do, so that they need not sleep. It runs in the page,
// before the page's own script; web/test and tests/e2e use it.
'use strict';

/*
 * Counts what the page waits for: timers, frames, requests and what is read of them, questions to its worker.
 * Afterwards settled(limit) resolves as soon as none of these was pending for two frames, and until(test, limit)
 * as soon as test() holds; to false if that took longer than limit ms.
 */
function watch() {
	const SHORT = 300; // ms; longer timers repeat something or take something away, and nobody waits for them
	const pending = new Set();
	const frame = window.requestAnimationFrame.bind(window);
	const nextFrame = () => new Promise(done => frame(done));

	/* Timers and frames: pending until they have run or were cancelled. */
	const wrap = (start, cancel, kind, counts) => {
		const [begin, end] = [window[start], window[cancel]];

		window[start] = (run, ...rest) => {
			if (typeof run !== 'function' || !counts(...rest)) return begin.call(window, run, ...rest);
			const id = begin.call(
				window,
				(...given) => {
					pending.delete(kind + id);
					run(...given);
				},
				...rest,
			);

			pending.add(kind + id);
			return id;
		};
		window[cancel] = id => {
			pending.delete(kind + id);
			end.call(window, id);
		};
	};

	wrap('setTimeout', 'clearTimeout', 'timer', (ms = 0) => ms <= SHORT);
	wrap('requestAnimationFrame', 'cancelAnimationFrame', 'frame', () => true);

	/* What answers with a promise: pending until that is settled. */
	const follow = (of, method) => {
		const original = of[method];

		of[method] = function (...given) {
			const answer = original.apply(this, given),
				token = {},
				end = () => pending.delete(token);

			pending.add(token);
			answer.then(end, end);
			return answer;
		};
	};

	follow(window, 'fetch');
	for (const read of ['arrayBuffer', 'blob', 'json', 'text']) follow(Response.prototype, read);
	follow(ReadableStreamDefaultReader.prototype, 'read');

	/* Questions to a worker have a number, and so have their answers (web/src/inline/inline.ts). */
	const post = Worker.prototype.postMessage,
		workers = new Map();

	Worker.prototype.postMessage = function (message, ...rest) {
		if (!workers.has(this)) {
			workers.set(this, `worker${workers.size}.`);
			this.addEventListener('message', e => pending.delete(workers.get(this) + e.data?.id));
		}
		if (message?.id) pending.add(workers.get(this) + message.id);
		if (message?.stop) pending.delete(workers.get(this) + message.stop);
		return post.call(this, message, ...rest);
	};

	const busy = () =>
		pending.size > 0 ||
		document.querySelector('[aria-busy=true]') !== null ||
		document
			.getAnimations()
			.some(a => a.playState === 'running' && Number.isFinite(a.effect?.getComputedTiming().endTime));

	window.until = async (test, limit) => {
		const last = performance.now() + limit;

		for (;;) {
			if (test()) return true;
			if (performance.now() > last) return false;
			await nextFrame();
		}
	};
	window.settled = limit => {
		let calm = 0;

		return window.until(() => (calm = busy() ? 0 : calm + 1) > 2, limit);
	};
	window.pending = pending;
}

module.exports = { watch };
