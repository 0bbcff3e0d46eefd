/*
 * devlog.js - the page of `unitrace devlog`: cores x RISCs x time, drawn on a canvas.
 *
 * The data (src/tt/devlog_page.c says how it is laid out) is unpacked lane by lane into flat arrays, when
 * a lane is first in sight. Each has levels above its bars, eight to one, that know how far they
 * reach and which of their bars is longest; whatever is narrower than a pixel is drawn from there,
 * so a frame costs as much as it shows. Tests and curious people use window.devlog.
 */
'use strict';
(() => {
	const d = ut.data('data');
	const page = document.getElementById('page');
	const FAN = 8, LEVEL = 9, GAP = 4, LABELS = 150, AXIS = 24, MOST = 620, DEEPEST = 8;
	const COLORS = ['', '--c4', '--c0', '--c1'];
	const count = n => Math.round(n).toLocaleString('en');
	const mean = n => ut.number(n, Number.isInteger(n) ? 0 : 1);
	const nano = cycles => ut.time(cycles / d.mhz);

	/* ---- data ------------------------------------------------------------------------------ */

	let used = 0;

	/* A lane before anybody has looked at it: what the page needs to lay it out. */
	function newLane(chip, [core, risc, n, bytes, levels, end]) {
		const lane = { chip, core: chip.cores[core], risc: d.riscs[risc], count: n, from: used, bytes,
			levels: Math.min(levels, DEEPEST), end };

		used += bytes;
		return lane;
	}

	/* Numbers of seven bits a byte, from these bytes of d.bars on. */
	function numbers(from, length) {
		const skip = from % 3;
		const text = atob(d.bars.slice((from - skip) / 3 * 4, Math.ceil((from + length) / 3) * 4));
		let at = skip;

		return () => {
			let value = 0, scale = 1, byte;

			do {
				byte = text.charCodeAt(at++);
				value += (byte & 127) * scale;
				scale *= 128;
			} while (byte & 128);
			return value;
		};
	}

	/* The bars of a lane, unpacked when they are first needed: most lanes are out of sight. */
	function unpack(lane) {
		if (lane.start)
			return lane;
		const n = lane.count, next = numbers(lane.from, lane.bytes);
		let time = 0, reach = 0;

		Object.assign(lane, { start: new Float64Array(n), cycles: new Float64Array(n),
			label: new Uint32Array(n), depth: new Uint8Array(n), op: new Uint32Array(n),
			reach: new Float64Array(n), together: d.within ? new Uint32Array(n).fill(1) : null });
		for (let i = 0; i < n; i++) {
			time += next();
			lane.start[i] = time;
			lane.cycles[i] = next();
			const label = next();

			lane.label[i] = Math.floor(label / 2);
			lane.depth[i] = Math.min(next(), DEEPEST - 1);
			lane.op[i] = next();
			if (label % 2)
				lane.together[i] = next();
			lane.reach[i] = reach = Math.max(reach, time + lane.cycles[i]);
		}
		lane.nodes = nodes(lane);
		return lane;
	}

	/* Levels: how far eight of the level below reach, and the longest bar among them. */
	function nodes(lane) {
		const list = [];
		let below = null;

		for (let n = Math.ceil(lane.count / FAN); lane.count > FAN; n = Math.ceil(n / FAN)) {
			const level = { end: new Float64Array(n), best: new Uint32Array(n) };

			for (let i = 0; i < n; i++) {
				const stop = Math.min((i + 1) * FAN, below ? below.end.length : lane.count);
				let best = below ? below.best[i * FAN] : i * FAN, end = 0;

				for (let k = i * FAN; k < stop; k++) {
					const bar = below ? below.best[k] : k;

					end = Math.max(end, below ? below.end[k] : lane.start[k] + lane.cycles[k]);
					if (visible(lane, bar) && (!visible(lane, best) || lane.cycles[bar] > lane.cycles[best]))
						best = bar;
				}
				level.end[i] = end;
				level.best[i] = best;
			}
			list.push(level);
			below = level;
			if (n === 1)
				break;
		}
		return list;
	}

	function kindOf(lane, bar) {
		return d.labels[lane.label[bar]][1];
	}

	function visible(lane, bar) {
		return kindOf(lane, bar) > 0;
	}

	const lanes = d.chips.flatMap(chip => chip.lanes.map(lane => newLane(chip, lane)));
	const length = lanes.reduce((most, lane) => Math.max(most, lane.end), 1);
	let y = 0;

	for (const lane of lanes) {
		lane.y = y;
		lane.height = lane.levels * LEVEL;
		y += lane.height + GAP;
	}
	const tall = y, flags = d.chips.flatMap(findFlags);

	/* ---- drawing --------------------------------------------------------------------------- */

	const view = { from: 0, to: length, top: 0 };
	const canvas = ut.el('canvas', { id: 'timeline', tabindex: '0', role: 'img',
		'aria-label': 'timeline of all RISCs' });
	const tip = ut.el('div', { id: 'tip', style: 'position:fixed;display:none;pointer-events:none;' +
		'background:var(--card);border:1px solid var(--line);border-radius:6px;padding:6px 10px;' +
		'font-size:13px;white-space:pre;z-index:1' });
	const g = canvas.getContext('2d');
	let drawn = 0, waiting = false, colors = [];

	const scale = () => (canvas.clientWidth - LABELS) / (view.to - view.from);
	const xOf = time => LABELS + (time - view.from) * scale();
	const timeOf = x => view.from + (x - LABELS) / scale();

	function rect(lane, bar, from, to) {
		const x = Math.max(xOf(from), LABELS), right = Math.min(xOf(to), canvas.clientWidth);
		const width = Math.max(right - x, 1);

		g.fillStyle = colors[kindOf(lane, bar)];
		g.fillRect(x, AXIS + lane.y - view.top + lane.depth[bar] * LEVEL, width, LEVEL - 1);
		drawn++;
		if (width > 60) {
			g.fillStyle = kindOf(lane, bar) === 1 ? colors[7] : colors[4];
			g.save();
			g.beginPath();
			g.rect(x, 0, width - 2, canvas.clientHeight);
			g.clip();
			g.fillText(d.labels[lane.label[bar]][0], x + 3,
				AXIS + lane.y - view.top + lane.depth[bar] * LEVEL + LEVEL - 2);
			g.restore();
		}
	}

	/* Node i of a level, or bar i where the level is -1. Starts are in order, so the first is least. */
	function drawNode(lane, level, i) {
		const first = i * FAN ** (level + 1), start = lane.start[first];
		const node = lane.nodes[level], end = level < 0 ? start + lane.cycles[i] : node.end[i];

		if (start > view.to || end < view.from)
			return;
		if (level < 0) {
			if (visible(lane, i))
				rect(lane, i, start, end);
		} else if ((end - start) * scale() < 1) {
			if (visible(lane, node.best[i]))
				rect(lane, node.best[i], start, end);
		} else {
			const below = level ? lane.nodes[level - 1].end.length : lane.count;

			for (let k = i * FAN; k < Math.min((i + 1) * FAN, below); k++)
				drawNode(lane, level - 1, k);
		}
	}

	function drawLane(lane) {
		unpack(lane);
		const top = lane.nodes.length - 1;
		const n = top < 0 ? lane.count : lane.nodes[top].end.length;

		for (let i = 0; i < n; i++)
			drawNode(lane, top, i);
		g.fillStyle = colors[5];
		g.fillText(`${d.chips.length > 1 ? `${lane.chip.id}: ` : ''}(${lane.core}) ${lane.risc}`, 4,
			AXIS + lane.y - view.top + Math.max(lane.height, LEVEL) - 1);
	}

	function drawAxis() {
		const span = view.to - view.from, step = 10 ** Math.floor(Math.log10(span / 4));

		g.clearRect(0, 0, canvas.clientWidth, AXIS);
		g.fillStyle = colors[5];
		for (let t = Math.ceil(view.from / step) * step, n = 0; t <= view.to && n < 60; t += step, n++) {
			g.fillRect(xOf(t), AXIS - 5, 1, 5);
			if ((canvas.clientWidth - LABELS) * step / span > 90 || n % 5 === 0)
				g.fillText(count(t), xOf(t) + 3, 12);
		}
		g.fillText('cycles', 4, 12);
		drawFlags();
	}

	/* T0 and, where a core has more than one, its launches. */
	function findFlags(chip) {
		const first = new Map(), number = new Map();
		const found = [{ time: chip.shift, text: 'T0', y: 0 }];

		for (const lane of lanes)
			if (lane.chip === chip && !first.has(lane.core))
				first.set(lane.core, lane.y);
		if (chip.launches.length > chip.cores.length)
			for (const [core, time] of chip.launches) {
				number.set(core, (number.get(core) || 0) + 1);
				found.push({ time: chip.shift + time, text: `Launch ${number.get(core)}`,
					y: first.get(chip.cores[core]) });
			}
		return found;
	}

	function drawFlags() {
		g.fillStyle = colors[6];
		for (const flag of flags) {
			const top = AXIS + flag.y - view.top, x = xOf(flag.time);

			if (flag.time < view.from || flag.time > view.to || top < AXIS || top > canvas.clientHeight)
				continue;
			g.fillRect(x, top, 1, 12);
			if (flags.length < 200)
				g.fillText(flag.text, x + 2, top + 9);
		}
	}

	function draw() {
		const ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.body);
		const value = name => style.getPropertyValue(name);

		waiting = false;
		drawn = 0;
		colors = [...COLORS.map(name => name ? value(name) : ''), '#fff', value('--soft'), value('--c3'), value('--text')];
		canvas.width = canvas.clientWidth * ratio;
		canvas.height = canvas.clientHeight * ratio;
		g.scale(ratio, ratio);
		g.font = '8px system-ui, sans-serif';
		for (const lane of lanes)
			if (lane.y + lane.height >= view.top && lane.y < view.top + canvas.clientHeight)
				drawLane(lane);
		g.font = '11px system-ui, sans-serif';
		drawAxis();
	}

	function redraw() {
		if (!waiting)
			requestAnimationFrame(draw);
		waiting = true;
	}

	/* ---- moving about ---------------------------------------------------------------------- */

	function show(from, to, top = view.top) {
		const span = Math.min(Math.max(to - from, 8), length * 1.02);

		view.from = Math.max(-length * 0.01, Math.min(from, length * 1.01 - span));
		view.to = view.from + span;
		view.top = Math.max(0, Math.min(top, tall - canvas.clientHeight + AXIS));
		redraw();
	}

	function zoom(factor, time = (view.from + view.to) / 2) {
		show(time - (time - view.from) * factor, time + (view.to - time) * factor);
	}

	/* The bar at a point of the canvas: in a lane, inner ones lie below outer ones. */
	function hit(x, py) {
		const lane = lanes.find(l => py >= AXIS + l.y - view.top && py < AXIS + l.y + l.height - view.top);
		const time = timeOf(x), slack = 1 / scale();
		const depth = lane && Math.floor((py - AXIS - lane.y + view.top) / LEVEL);
		let low = 0, high = lane ? lane.count : 0;

		if (!lane || x < LABELS)
			return null;
		unpack(lane);
		while (low < high) {
			const mid = (low + high) >> 1;

			if (lane.start[mid] <= time)
				low = mid + 1;
			else
				high = mid;
		}
		for (let i = low - 1; i >= 0 && lane.reach[i] + slack >= time; i--)
			if (lane.depth[i] <= depth && lane.start[i] + lane.cycles[i] + slack >= time)
				return { lane, bar: i };
		return null;
	}

	function hover(event) {
		const found = hit(event.offsetX, event.offsetY);

		tip.style.display = found ? 'block' : 'none';
		if (!found)
			return;
		const { lane, bar } = found, op = lane.op[bar], together = lane.together ? lane.together[bar] : 1;

		tip.textContent = `${d.labels[lane.label[bar]][0]}` +
			`${together > 1 ? ` is the longest of ${count(together)} within` : ''}\n` +
			`${count(lane.cycles[bar])} cycles, ` +
			`${nano(lane.cycles[bar])}\nchip ${lane.chip.id}, core (${lane.core}), ${lane.risc}\n` +
			`at ${count(lane.start[bar])} cycles${op ? `\nop ${d.ops[op - 1]}` : ''}`;
		tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 260)}px`;
		tip.style.top = `${event.clientY + 14}px`;
	}

	function listen() {
		let drag = null;

		canvas.addEventListener('wheel', event => {
			event.preventDefault();
			if (event.shiftKey)
				show(view.from, view.to, view.top + event.deltaY + event.deltaX);
			else
				zoom(Math.exp(event.deltaY / 400), timeOf(event.offsetX));
		}, { passive: false });
		canvas.addEventListener('pointerdown', event => {
			drag = { x: event.offsetX, y: event.offsetY, ...view };
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener('pointerup', () => { drag = null; });
		canvas.addEventListener('pointermove', event => {
			if (!drag)
				return hover(event);
			const moved = (event.offsetX - drag.x) / scale();

			show(drag.from - moved, drag.to - moved, drag.top + drag.y - event.offsetY);
		});
		canvas.addEventListener('pointerleave', () => { tip.style.display = 'none'; });
		canvas.addEventListener('dblclick', () => show(0, length));
		canvas.addEventListener('keydown', event => {
			const step = (view.to - view.from) / 8;
			const keys = { w: () => zoom(0.7), s: () => zoom(1.4), a: () => show(view.from - step, view.to - step),
				d: () => show(view.from + step, view.to + step), 0: () => show(0, length),
				ArrowDown: () => show(view.from, view.to, view.top + 60),
				ArrowUp: () => show(view.from, view.to, view.top - 60) };

			if (keys[event.key]) {
				keys[event.key]();
				event.preventDefault();
			}
		});
		window.addEventListener('resize', redraw);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
	}

	/* ---- the page -------------------------------------------------------------------------- */

	const perZone = () => d.by_zone.map(([label, risc, n, sum, min, max]) => ({ name: d.labels[label][0],
		risc: d.riscs[risc], count: n, sum, min, max, average: sum / n, time: sum }));

	function build() {
		const bars = lanes.reduce((n, lane) => n + lane.count, 0);
		const fewer = d.within ? ` ${count(d.bars_all)} bars are drawn as ${count(bars)}: shorter ones that lie ` +
			`within ${count(d.within)} cycles of each other are one, which tells how many it stands for. ` +
			'The tables count all.' : '';
		const columns = (...keys) => keys.map(([key, label, format = count]) =>
			({ key, label, num: true, format }));
		const timeline = ut.section('Timeline', 'Wheel: zoom. Drag: move. Shift and wheel or arrow keys: ' +
			'up and down. Keys w, s, a, d; double click shows all. Times count from T0.' + fewer);

		document.title = `Device profile, ${d.arch}`;
		page.append(timeline);
		ut.facts(page.insertBefore(ut.el('div'), timeline), [
			{ value: d.arch, label: `${d.mhz} MHz` },
			{ value: String(d.chips.length), label: d.chips.length === 1 ? 'chip' : 'chips' },
			{ value: count(d.chips.reduce((n, chip) => n + chip.cores.length, 0)), label: 'cores' },
			{ value: count(d.rows), label: 'markers' }, { value: count(d.bars_all), label: 'bars' },
			{ value: nano(length), label: `${count(length)} cycles` } ]);
		timeline.append(ut.el('div', { class: 'legend' }, ...['firmware', 'kernel', 'user'].map((label, i) =>
			ut.el('span', {}, ut.el('i', { style: `background:var(${COLORS[i + 1]})` }), label))));
		canvas.style.cssText = `display:block;width:100%;height:${Math.min(MOST, tall + AXIS + 8)}px;` +
			'background:var(--card);border:1px solid var(--line);border-radius:8px;touch-action:none;cursor:crosshair';
		timeline.append(canvas);
		document.body.append(tip);
		for (const chip of d.chips) {
			const where = ut.section(`Chip ${chip.id}: Duration Stats Table`);
			const cycles = (key, label, format) => [key, `${label} [cycles]`, format];

			ut.table(where, { sort: '', columns: [{ key: 'name', label: 'Duration Name' }, ...columns(
				['count', 'Count'], cycles('average', 'Average', mean), cycles('max', 'Max'),
				cycles('median', 'Median', mean), cycles('min', 'Min'), cycles('sum', 'Sum'))],
			rows: chip.stats.map(([name, n, average, max, median, min, sum]) =>
				({ name, count: n, average, max, median, min, sum })) });
		}
		ut.table(ut.section('By zone', 'All bars of the timeline, by what they are called.'), {
			sort: 'sum', filter: 'find a zone or a RISC', rows: perZone(),
			columns: [{ key: 'name', label: 'Zone' }, { key: 'risc', label: 'RISC' }, ...columns(
				['count', 'Count'], ['sum', 'Cycles'], ['time', 'Time', nano], ['average', 'Average', mean],
				['min', 'Min'], ['max', 'Max'])] });
		listen();
		show(0, length);
	}

	build();
	window.devlog = { data: d, lanes, view, show, zoom, hit, length, drawn: () => drawn,
		ready: () => !waiting, xOf, timeOf,
		bars: lane => Array.from({ length: unpack(lane).count }, (_, i) => ({ start: lane.start[i],
			cycles: lane.cycles[i], label: d.labels[lane.label[i]][0], kind: kindOf(lane, i),
			depth: lane.depth[i], op: lane.op[i] ? d.ops[lane.op[i] - 1] : null,
			together: lane.together ? lane.together[i] : 1 })) };
})();
