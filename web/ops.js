/*
 * ops.js - the page of `unitrace ops`: what to show of the embedded totals and rows.
 *
 * Tests and curious people use window.ops.
 */
'use strict';
(() => {
	const MOST_BARS = 20, LABELS = 120, AXIS = 22, LEVEL = 16, GAP = 6, OVERVIEW = 30;
	const d = ut.data('data');
	const sum = key => d.ops.reduce((total, op) => total + op[key], 0);
	const time = ns => ut.time(ns / 1e3);

	function headline() {
		ut.facts(document.getElementById('page'), [
			{ value: ut.number(sum('calls'), 0), label: 'ops' },
			{ value: ut.number(sum('timed'), 0), label: 'of them with device times' },
			{ value: time(sum('host')), label: 'on the host; an op inside another counts twice' },
			{ value: time(sum('device')), label: 'in kernels on the device' },
			{ value: ut.number(d.problems, 0), label: 'rows with a problem', cls: d.problems ? 'warning' : 'good' },
		]);
	}

	/* ---- the timeline ---------------------------------------------------------------------- */

	const text = (row, name) => name in row ? String(row[name]) : '';
	const isTime = value => typeof value === 'number';

	/* Bars of a lane are { row, from, to, depth }, in order of their start; times count from `origin`. */
	function findLanes() {
		const lanes = new Map();
		const add = (name, row, from, to, depth) => {
			if (!isTime(from) || !isTime(to))
				return;
			if (!lanes.has(name))
				lanes.set(name, { name, bars: [] });
			lanes.get(name).bars.push({ row, from, to, depth });
		};

		for (const row of d.first) {
			add('THREAD ID' in row ? `thread ${row['THREAD ID']}` : 'host', row, row['HOST START TS'],
				row['HOST END TS'], isTime(row['CALL DEPTH']) ? row['CALL DEPTH'] - 1 : 0);
			add(`device ${text(row, 'DEVICE ID')}`, row, row['DEVICE START TS'], row['DEVICE END TS'], 0);
		}
		return [...lanes.values()];
	}

	/* Ops that overlap without one being in the other get levels of their own. */
	function layOut(lanes) {
		const origin = Math.min(...lanes.flatMap(lane => lane.bars.map(bar => bar.from)));
		let y = 0;

		for (const lane of lanes) {
			const ends = [];

			lane.bars.sort((a, b) => a.from - b.from || b.to - a.to);
			for (const bar of lane.bars) {
				bar.from -= origin;
				bar.to -= origin;
				bar.level = bar.depth;
				while ((ends[bar.level] || 0) > bar.from && bar.level < bar.depth + 8)
					bar.level++;
				ends[bar.level] = Math.max(ends[bar.level] || 0, bar.to);
			}
			lane.y = y;
			lane.height = Math.max(ends.length, 1) * LEVEL;
			y += lane.height + GAP;
		}
		return Math.max(...lanes.flatMap(lane => lane.bars.map(bar => bar.to)), 1);
	}

	function makeTimeline(where, lanes, length, pick) {
		const height = AXIS + lanes[lanes.length - 1].y + lanes[lanes.length - 1].height + GAP;
		const style = 'display:block;width:100%;background:var(--card);border:1px solid var(--line);' +
			'border-radius:8px;touch-action:none;margin-bottom:6px;';
		const canvas = ut.el('canvas', { id: 'timeline', tabindex: '0', role: 'img',
			'aria-label': 'ops over time', style: `${style}height:${Math.min(height, 600)}px;cursor:crosshair` });
		const slider = ut.el('canvas', { id: 'range', role: 'img', 'aria-label': 'the part that is shown',
			style: `${style}height:${OVERVIEW}px;cursor:ew-resize` });
		const tip = ut.el('div', { id: 'tip', style: 'position:fixed;display:none;pointer-events:none;' +
			'background:var(--card);border:1px solid var(--line);border-radius:6px;padding:6px 10px;' +
			'font-size:13px;white-space:pre-wrap;max-width:520px;overflow-wrap:anywhere;z-index:1' });
		const view = { from: 0, to: length };
		const scale = () => (canvas.clientWidth - LABELS) / (view.to - view.from);
		const xOf = t => LABELS + (t - view.from) * scale();
		const timeOf = x => view.from + (x - LABELS) / scale();
		const value = name => getComputedStyle(document.body).getPropertyValue(name);
		let waiting = false, drawn = 0;

		function begin(to) {
			const ratio = window.devicePixelRatio || 1, g = to.getContext('2d');

			to.width = to.clientWidth * ratio;
			to.height = to.clientHeight * ratio;
			g.scale(ratio, ratio);
			g.font = '11px system-ui, sans-serif';
			return g;
		}

		function drawBar(g, lane, bar, color) {
			const x = Math.max(xOf(bar.from), LABELS), width = Math.max(Math.min(xOf(bar.to), canvas.clientWidth) - x, 1);
			const y = AXIS + lane.y + bar.level * LEVEL;

			g.fillStyle = color;
			g.fillRect(x, y, width, LEVEL - 2);
			drawn++;
			if (width < 40)
				return;
			g.save();
			g.beginPath();
			g.rect(x, y, width - 2, LEVEL);
			g.clip();
			g.fillStyle = '#fff';
			g.fillText(text(bar.row, 'OP CODE').trim(), x + 3, y + 11);
			g.restore();
		}

		function drawAxis(g) {
			g.fillStyle = value('--soft');
			for (let i = 0; i <= 4; i++) {
				const t = view.from + (view.to - view.from) * i / 4;

				g.textAlign = i === 4 ? 'right' : 'left';
				g.fillText(time(t), xOf(t), 13);
				g.fillRect(xOf(t), 16, 1, 5);
			}
			g.textAlign = 'left';
		}

		function drawRange() {
			const g = begin(slider), x = t => LABELS + t / length * (slider.clientWidth - LABELS);

			g.fillStyle = value('--c4');
			for (const lane of lanes)
				for (const bar of lane.bars)
					g.fillRect(x(bar.from), 8, Math.max(x(bar.to) - x(bar.from), 0.5), OVERVIEW - 18);
			g.strokeStyle = value('--c0');
			g.lineWidth = 2;
			g.strokeRect(x(view.from), 2, Math.max(x(view.to) - x(view.from), 4), OVERVIEW - 6);
		}

		function draw() {
			const g = begin(canvas), colors = [value('--c0'), value('--c1')];

			waiting = false;
			drawn = 0;
			for (const lane of lanes) {
				for (const bar of lane.bars)
					if (bar.to >= view.from && bar.from <= view.to)
						drawBar(g, lane, bar, colors[lane.name.startsWith('device') ? 1 : 0]);
				g.fillStyle = value('--soft');
				g.clearRect(0, AXIS + lane.y, LABELS - 2, lane.height);
				g.fillText(lane.name, 4, AXIS + lane.y + 11);
			}
			drawAxis(g);
			drawRange();
		}

		function redraw() {
			if (!waiting)
				requestAnimationFrame(draw);
			waiting = true;
		}

		function show(from, to) {
			const span = Math.min(Math.max(to - from, 10), length);

			view.from = Math.max(0, Math.min(from, length - span));
			view.to = view.from + span;
			redraw();
		}

		const zoom = (factor, t = (view.from + view.to) / 2) =>
			show(t - (t - view.from) * factor, t + (view.to - t) * factor);

		function hit(x, y) {
			const lane = lanes.find(l => y >= AXIS + l.y && y < AXIS + l.y + l.height);
			const t = timeOf(x), slack = 1 / scale();
			const level = lane && Math.floor((y - AXIS - lane.y) / LEVEL);

			return lane && x >= LABELS ? lane.bars.findLast(bar => bar.level === level &&
				bar.from <= t + slack && bar.to + slack >= t) : undefined;
		}

		function hover(event) {
			const bar = hit(event.offsetX, event.offsetY);

			tip.style.display = bar ? 'block' : 'none';
			if (!bar)
				return;
			tip.textContent = `Op: ${text(bar.row, 'OP CODE').trim()}\nCall: ${text(bar.row, 'GLOBAL CALL COUNT')}\n` +
				`Duration: ${((bar.to - bar.from) / 1e9).toFixed(3)} s (${time(bar.to - bar.from)})` +
				`${'ATTRIBUTES' in bar.row ? `\nMeta: ${text(bar.row, 'ATTRIBUTES').slice(0, 400)}` : ''}`;
			tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 300)}px`;
			tip.style.top = `${event.clientY + 14}px`;
			pick(bar.row);
		}

		function listen() {
			const centre = event => {
				const t = (event.offsetX - LABELS) / (slider.clientWidth - LABELS) * length;

				show(t - (view.to - view.from) / 2, t + (view.to - view.from) / 2);
			};
			let drag = null;

			canvas.addEventListener('wheel', event => {
				event.preventDefault();
				zoom(Math.exp(event.deltaY / 400), timeOf(event.offsetX));
			}, { passive: false });
			canvas.addEventListener('pointerdown', event => {
				drag = { x: event.offsetX, ...view };
				canvas.setPointerCapture(event.pointerId);
			});
			canvas.addEventListener('pointerup', () => { drag = null; });
			canvas.addEventListener('pointermove', event => {
				if (!drag)
					return hover(event);
				const moved = (event.offsetX - drag.x) / scale();

				show(drag.from - moved, drag.to - moved);
			});
			canvas.addEventListener('pointerleave', () => { tip.style.display = 'none'; });
			canvas.addEventListener('dblclick', () => show(0, length));
			canvas.addEventListener('keydown', event => {
				const step = (view.to - view.from) / 8;
				const keys = { w: () => zoom(0.7), s: () => zoom(1.4), a: () => show(view.from - step, view.to - step),
					d: () => show(view.from + step, view.to + step), 0: () => show(0, length) };

				if (keys[event.key])
					keys[event.key]();
			});
			slider.addEventListener('pointerdown', centre);
			slider.addEventListener('pointermove', event => event.buttons && centre(event));
			window.addEventListener('resize', redraw);
			matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
		}

		where.append(canvas, slider);
		document.body.append(tip);
		listen();
		show(0, length);
		return { lanes, length, view, show, zoom, hit, xOf, drawn: () => drawn, ready: () => !waiting };
	}

	/* What the device did for the op under the mouse: a bar per duration that its row has. */
	function showDevice(where, row) {
		const bars = Object.keys(row).filter(name => /^DEVICE .*DURATION.* \[ns\]$/.test(name) && isTime(row[name]));

		where.replaceChildren();
		if (!bars.length)
			return;
		where.append(ut.el('p', {}, `${text(row, 'OP CODE').trim()}, call ${text(row, 'GLOBAL CALL COUNT')}, on the device:`));
		ut.bars(where, { format: time, keys: [{ label: 'duration', color: ut.color(1) }], rows: bars.map(name =>
			({ label: name.replace(/^DEVICE | DURATION| \[ns\]$/g, '').toLowerCase() || 'all', values: [row[name]] })) });
	}

	function timeline() {
		const lanes = findLanes();

		if (!lanes.length)
			return null;
		const where = ut.section('Timeline', 'Wheel: zoom. Drag: move. The strip below shows which part of the run is in ' +
			'sight; click into it to go there. Keys w, s, a, d; double click shows all. ' +
			`Times count from the first op.${d.rows > d.first.length ? ` The first ${d.first.length} rows.` : ''}`);
		const length = layOut(lanes), device = ut.el('div', { id: 'device' });
		const made = makeTimeline(where, lanes, length, row => showDevice(device, row));

		where.append(device);
		return made;
	}

	/* ---- tables ---------------------------------------------------------------------------- */

	function byOp() {
		const where = ut.section('Time by op', 'All calls of an op together; the longest on the device first.');
		const list = [...d.ops].sort((a, b) => b.device - a.device || b.host - a.host);

		ut.bars(where, { format: time,
			keys: [{ label: 'host', color: ut.color(0) }, { label: 'kernels on the device', color: ut.color(1) }],
			rows: list.slice(0, MOST_BARS).map(op => ({ label: op.code, values: [op.host, op.device] })) });
		ut.table(where, { sort: 'device', filter: 'filter by name', rows: list, columns: [
			{ key: 'code', label: 'op' }, { key: 'calls', label: 'calls', num: true },
			{ key: 'timed', label: 'with device times', num: true },
			{ key: 'host', label: 'host', num: true, format: time },
			{ key: 'device', label: 'kernels on the device', num: true, format: time }] });
	}

	function everyOp() {
		const used = new Set(d.first.flatMap(row => Object.keys(row)));
		const names = d.columns.filter(name => used.has(name));
		const where = ut.section('Every op', d.rows > d.first.length ?
			`The first ${d.first.length} of ${d.rows} rows; the CSV file has them all.` :
			'In the order in which they ran.');

		ut.table(where, { filter: 'filter by text',
			rows: d.first.map(row => Object.fromEntries(names.map(name => [name, name in row ? row[name] : null]))),
			columns: names.map(name => ({ key: name, label: name,
				num: d.first.every(row => !(name in row) || typeof row[name] === 'number') })) });
	}

	headline();
	window.ops = timeline();
	byOp();
	everyOp();
})();
