/*
 * report.js - the parts that pages are made of. A page's own script uses the object ut:
 *
 *   ut.data(id)                          what the program has embedded under that id
 *   ut.section(title, text)              a heading with a sentence below; returns where parts go
 *   ut.facts(where, [{value, label, cls}])
 *   ut.bars(where, {keys, rows, format}) stacked bars; keys: [{label, color}], rows: [{label,
 *                                        values}], values in the order of the keys
 *   ut.lines(where, {series, x, format}) series: [{label, values}], x: [from, to]
 *   ut.heat(where, {rows, format, unit}) rows: [{label, values}]; null = nothing there
 *   ut.table(where, {columns, rows, sort, filter})   columns: [{key, label, num, format, cls}]
 *   ut.time(us), ut.number(n, digits), ut.percent(p)
 *
 * No part asks anybody for anything: all is drawn from the data in the page. Text goes into text
 * nodes only, so that names from a trace stay names.
 */
'use strict';
const ut = (() => {
	const SVG = 'http://www.w3.org/2000/svg';
	const WIDTH = 1100;

	function fill(element, attributes, children) {
		for (const [key, value] of Object.entries(attributes || {}))
			if (value !== undefined && value !== null)
				element.setAttribute(key, value);
		element.append(...children.filter(child => child !== undefined && child !== null));
		return element;
	}

	const el = (tag, attributes, ...children) =>
		fill(document.createElement(tag), attributes, children);
	const svg = (tag, attributes, ...children) =>
		fill(document.createElementNS(SVG, tag), attributes, children);
	const color = i => `var(--c${i % 8})`;
	const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + '\u2026' : text;

	function data(id) {
		return JSON.parse(document.getElementById(id).textContent);
	}

	function number(n, digits = 1) {
		return n === null || n === undefined ? '\u2013' :
			n.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
	}

	function time(us) {
		if (us === null || us === undefined)
			return '\u2013';
		for (const [limit, unit] of [[1e6, 's'], [1e3, 'ms'], [1, '\u00b5s']])
			if (Math.abs(us) >= limit)
				return `${(us / limit).toPrecision(4)} ${unit}`;
		return us === 0 ? '0' : `${(us * 1e3).toPrecision(3)} ns`;
	}

	const percent = p => p === null || p === undefined ? '\u2013' : `${number(p, 1)} %`;

	function section(title, text) {
		const where = el('section', {}, el('h2', {}, title), text ? el('p', {}, text) : null);

		document.getElementById('page').append(where);
		return where;
	}

	function facts(where, list) {
		where.append(el('div', { class: 'facts' }, ...list.map(fact =>
			el('div', { class: 'fact' }, el('b', { class: fact.cls || '' }, fact.value),
				el('span', {}, fact.label)))));
	}

	function legend(where, keys) {
		where.append(el('div', { class: 'legend' }, ...keys.map(key =>
			el('span', {}, el('i', { style: `background:${key.color}` }), key.label))));
	}

	/* A frame for a drawing with labels on the left. */
	function canvas(height, label) {
		return svg('svg', { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': label });
	}

	function bars(where, { keys, rows, format = time, label = 'stacked bars' }) {
		const left = 150, right = 110, high = rows.length > 48 ? 8 : 18, gap = high > 8 ? 5 : 1;
		const sum = row => row.values.reduce((a, b) => a + b, 0);
		const most = Math.max(...rows.map(sum), 1e-9);
		const chart = canvas(rows.length * (high + gap) + 16, label);

		legend(where, keys);
		rows.forEach((row, i) => {
			const y = 8 + i * (high + gap);
			let x = left;
			const group = svg('g', { class: 'row' });

			if (high > 8 || i % 6 === 0)
				group.append(svg('text', { x: left - 8, y: y + Math.min(high, 13), 'text-anchor': 'end' },
					cut(row.label, 22)));
			row.values.forEach((value, k) => {
				const width = value / most * (WIDTH - left - right);

				if (value <= 0)
					return;
				group.append(svg('rect', { class: 'bar', x, y, width, height: high, fill: keys[k].color },
					svg('title', {}, `${row.label}: ${keys[k].label} ${format(value)} of ${format(sum(row))}`)));
				x += width;
			});
			if (high > 8)
				group.append(svg('text', { x: x + 6, y: y + 13 }, format(sum(row))));
			chart.append(group);
		});
		where.append(chart);
	}

	function lines(where, { series, x, format = number, label = 'lines' }) {
		const left = 80, bottom = 24, height = 240, top = 12;
		const most = Math.max(...series.flatMap(s => s.values), 1e-9);
		const chart = canvas(height, label);
		const px = (i, n) => left + i / n * (WIDTH - left - 16);
		const py = v => height - bottom - v / most * (height - bottom - top);

		legend(where, series.map((s, i) => ({ label: s.label, color: color(i) })));
		for (let i = 0; i <= 4; i++) {
			const y = py(most * i / 4);

			chart.append(svg('line', { class: 'axis', x1: left, x2: WIDTH - 16, y1: y, y2: y }),
				svg('text', { x: left - 8, y: y + 4, 'text-anchor': 'end' }, format(most * i / 4)));
		}
		series.forEach((s, k) => {
			const n = s.values.length;
			const path = s.values.map((v, i) =>
				`${i ? 'L' : 'M'}${px(i, n).toFixed(1)} ${py(v).toFixed(1)}H${px(i + 1, n).toFixed(1)}`);

			chart.append(svg('path', { class: 'line', d: path.join(''), fill: 'none', stroke: color(k),
				'stroke-width': 1.5 }));
		});
		chart.append(svg('text', { x: left, y: height - 6 }, time(x[0])),
			svg('text', { x: WIDTH - 16, y: height - 6, 'text-anchor': 'end' }, time(x[1])));
		where.append(chart);
	}

	function heat(where, { rows, format = time, label = 'heat map' }) {
		const left = 110, high = rows.length > 40 ? 8 : 20, columns = rows[0].values.length;
		const most = Math.max(...rows.flatMap(r => r.values.map(v => v || 0)), 1e-9);
		const width = (WIDTH - left - 16) / columns;
		const chart = canvas(rows.length * high + 16, label);

		rows.forEach((row, i) => {
			if (high > 8 || i % 4 === 0)
				chart.append(svg('text', { x: left - 8, y: 8 + i * high + Math.min(high, 14),
					'text-anchor': 'end' }, row.label));
			row.values.forEach((value, k) => {
				if (value === null)
					return;
				chart.append(svg('rect', { class: 'cell', x: left + k * width, y: 8 + i * high,
					width: Math.max(width - 1, 0.5), height: high - 1, fill: 'var(--c1)',
					'fill-opacity': (0.06 + 0.94 * value / most).toFixed(3) },
				svg('title', {}, `${row.label}, column ${k + 1}: ${format(value)}`)));
			});
		});
		where.append(chart);
		where.append(el('p', {}, `Full colour is ${format(most)}.`));
	}

	function compare(a, b) {
		if (a === b)
			return 0;
		if (a === null || a === undefined)
			return 1;
		if (b === null || b === undefined)
			return -1;
		return a < b ? -1 : 1;
	}

	/* The first click on a column of numbers shows the largest, on one of words the first. */
	function table(where, { columns, rows, sort, filter }) {
		const body = el('tbody'), shown = el('span');
		const heads = columns.map(column => el('th', { class: column.num ? 'num' : '' },
			el('button', { type: 'button' }, column.label)));
		let key = sort, down = true, words = '';

		function draw() {
			const kept = rows.filter(row => !words || columns.some(column =>
				!column.num && String(row[column.key]).toLowerCase().includes(words)));

			if (key)
				kept.sort((a, b) => (down ? -1 : 1) * compare(a[key], b[key]) || 0);
			body.replaceChildren(...kept.map(row => el('tr', {}, ...columns.map(column => {
				const value = row[column.key];

				return el('td', { class: [column.num ? 'num' : 'text',
					column.cls ? column.cls(row) : ''].join(' ').trim() },
				column.format ? column.format(value) : value === null ? '\u2013' : String(value));
			}))));
			shown.textContent = `${kept.length} of ${rows.length}`;
			columns.forEach((column, i) => {
				if (column.key === key)
					heads[i].setAttribute('aria-sort', down ? 'descending' : 'ascending');
				else
					heads[i].removeAttribute('aria-sort');
			});
		}

		heads.forEach((head, i) => head.firstChild.addEventListener('click', () => {
			down = key === columns[i].key ? !down : Boolean(columns[i].num);
			key = columns[i].key;
			draw();
		}));
		if (filter) {
			const input = el('input', { type: 'search', placeholder: filter, 'aria-label': filter });

			input.addEventListener('input', () => {
				words = input.value.toLowerCase();
				draw();
			});
			where.append(el('div', { class: 'filter' }, input, shown));
		}
		where.append(el('div', { class: 'scroll' }, el('table', {}, el('thead', {},
			el('tr', {}, ...heads)), body)));
		draw();
	}

	return { data, section, facts, bars, lines, heat, table, time, number, percent, color, el };
})();
