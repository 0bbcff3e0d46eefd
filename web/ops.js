/* ops.js - the page of `unitrace ops`: what to show of the embedded totals and rows. */
'use strict';
(() => {
	const MOST_BARS = 20;
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
		const names = [...new Set(d.first.flatMap(row => Object.keys(row)))];
		const where = ut.section('Every op', d.rows > d.first.length ?
			`The first ${d.first.length} of ${d.rows} rows; the CSV file has them all.` :
			'In the order in which they ran.');

		ut.table(where, { filter: 'filter by text',
			rows: d.first.map(row => Object.fromEntries(names.map(name => [name, name in row ? row[name] : null]))),
			columns: names.map(name => ({ key: name, label: name,
				num: d.first.every(row => !(name in row) || typeof row[name] === 'number') })) });
	}

	headline();
	byOp();
	everyOp();
})();
