/* analyze.js - the page of `unitrace analyze --html`: what to show of the embedded summary. */
'use strict';
(() => {
	const d = ut.data('data');
	const PARTS = [['compute_us', 'compute', 0], ['communication_exposed_us', 'exposed communication', 1],
		['transfer_exposed_us', 'transfer', 2], ['prep_exposed_us', 'preparation', 3], ['idle_us', 'idle', 4]];
	const keys = PARTS.map(([, label, i]) => ({ label, color: ut.color(i) }));
	const parts = row => PARTS.map(([key]) => row[key]);
	const page = document.getElementById('page');
	const t = d.totals, v = d.verify;

	function headline() {
		const late = d.ranks.filter(rank => rank.straggler).map(rank => rank.rank);
		const cls = v.errors ? 'error' : v.trust_percent < 95 || v.warnings ? 'warning' : 'good';

		page.append(ut.el('p', {}, `${t.ranks} ranks, ${d.kernel_count} kernels, ${t.collectives} ` +
			`collectives, ${ut.time(t.longest_rank_us)} from the first work to the last.`));
		ut.facts(page, [
			{ value: ut.percent(v.trust_percent), label: 'of the device time can be trusted', cls },
			{ value: ut.percent(100 * t.compute_us / t.length_us), label: 'of the time computes' },
			{ value: ut.time(t.communication_exposed_us), label: 'exposed communication, all ranks' },
			{ value: ut.percent(t.overlap_percent), label: 'of communication is hidden' },
			{ value: ut.percent(100 * t.idle_us / t.length_us), label: 'idle' },
			{ value: t.energy_j === null ? '\u2013' : `${ut.number(t.energy_j, 3)} J`, label: 'energy' },
			{ value: late.length ? late.join(', ') : 'none', label: 'straggling ranks', cls: late.length ? 'warning' : '' },
		]);
	}

	function steps() {
		const words = { run: 'the whole run, since nothing in it repeats',
			iterations: 'an iteration of the sequence of kernels', profiler: 'a ProfilerStep' };
		const named = d.steps.map(step => ({ values: parts(step).map(part => part / step.count),
			label: `rank ${step.rank}, ` + (step.count > 1 ?
				`${step.first}\u2013${step.first + step.count - 1}` : `step ${step.first}`) }));
		const where = ut.section('Where each step went',
			d.ranks.length ? `A step is ${words[d.ranks[0].step_source]}. Every part is what is not covered by ` +
				'a part before it, so the parts add up to the step. Where there are many steps, a bar is ' +
				'the mean of several.' : 'There is no device work in this trace.');

		if (named.length)
			ut.bars(where, { keys, rows: named, label: 'time of each step' });
	}

	function overlap() {
		const where = ut.section('Communication behind computation', 'Hidden communication costs nothing; ' +
			'exposed communication is time in which a rank computes nothing because it communicates.');
		const rows = d.ranks.filter(rank => rank.communication_us > 0);

		if (!rows.length) {
			where.append(ut.el('p', {}, 'No rank communicates.'));
			return;
		}
		ut.bars(where, { label: 'hidden and exposed communication',
			keys: [{ label: 'hidden', color: ut.color(2) }, { label: 'exposed', color: ut.color(1) }],
			rows: rows.map(rank => ({ label: `rank ${rank.rank}`,
				values: [rank.communication_hidden_us, rank.communication_exposed_us] })) });
	}

	function ranks() {
		const where = ut.section('Ranks', 'From the first work of each rank to its last. Excess is how much ' +
			'longer than the median rank it works in a step, communication aside.');

		ut.table(where, { sort: 'step_excess_us', rows: d.ranks, columns: [
			{ key: 'rank', label: 'Rank', num: true },
			{ key: 'length_us', label: 'Length', num: true, format: ut.time },
			...PARTS.map(([key, label]) => ({ key, label, num: true, format: ut.time })),
			{ key: 'overlap_percent', label: 'Overlap', num: true, format: ut.percent },
			{ key: 'step_count', label: 'Steps', num: true },
			{ key: 'step_median_us', label: 'Median step', num: true, format: ut.time },
			{ key: 'step_excess_us', label: 'Excess', num: true, format: ut.time,
				cls: rank => rank.straggler ? 'warning' : '' },
			{ key: 'energy_j', label: 'Energy J', num: true, format: n => ut.number(n, 3) },
		] });
	}

	function kernels() {
		const where = ut.section('Kernels', d.kernels.length < d.kernel_count ?
			`The ${d.kernels.length} of ${d.kernel_count} that took the most time.` : 'All of them.');

		ut.table(where, { sort: 'total_us', filter: 'filter by name', rows: d.kernels, columns: [
			{ key: 'name', label: 'Name' },
			{ key: 'kind', label: 'Kind' },
			{ key: 'rank', label: 'Rank', num: true },
			{ key: 'calls', label: 'Calls', num: true, format: n => ut.number(n, 0) },
			{ key: 'total_us', label: 'Total', num: true, format: ut.time },
			{ key: 'share_percent', label: 'Share', num: true, format: ut.percent },
			{ key: 'mean_us', label: 'Mean', num: true, format: ut.time },
			{ key: 'median_us', label: 'Median', num: true, format: ut.time },
			{ key: 'max_us', label: 'Max', num: true, format: ut.time },
			{ key: 'energy_j', label: 'Energy J', num: true, format: n => ut.number(n, 6) },
			{ key: 'energy_percent', label: 'Energy', num: true, format: ut.percent },
			{ key: 'power_w', label: 'Power W', num: true, format: n => ut.number(n, 2) },
		] });
	}

	function collectives() {
		const where = ut.section('Collectives and who comes late', 'Colour is how much later than the first ' +
			'rank each one came; time runs from left to right.');
		const rows = d.late_heat.rows;

		if (!d.collectives.length) {
			where.append(ut.el('p', {}, 'There are no collectives.'));
			return;
		}
		ut.heat(where, { label: 'lateness of ranks', rows: rows.map(row =>
			({ label: `rank ${row.rank}`, values: row.late_us })) });
		ut.table(where, { sort: 'mean_late_us', rows: d.collectives, columns: [
			{ key: 'name', label: 'Name' },
			{ key: 'count', label: 'Count', num: true, format: n => ut.number(n, 0) },
			{ key: 'ranks', label: 'Ranks', num: true },
			{ key: 'mean_us', label: 'Mean', num: true, format: ut.time },
			{ key: 'max_us', label: 'Max', num: true, format: ut.time },
			{ key: 'mean_late_us', label: 'Mean lateness', num: true, format: ut.time },
			{ key: 'max_late_us', label: 'Max lateness', num: true, format: ut.time },
			{ key: 'last_rank', label: 'Last most often', num: true },
			{ key: 'last_count', label: 'How often', num: true, format: n => ut.number(n, 0) },
		] });
	}

	function power() {
		const p = d.power;
		const where = ut.section('Power and energy', p.known ? 'Watts of each rank over time; a point is the ' +
			'mean of a stretch.' : `Not known: ${p.why}.`);

		if (!p.ranks.length)
			return;
		ut.lines(where, { label: 'power', x: [p.begin_us, p.end_us], format: w => `${w.toPrecision(3)} W`,
			series: p.ranks.map(rank => ({ label: `rank ${rank.rank}`, values: rank.watts })) });
	}

	function verify() {
		const where = ut.section('How much of this can be trusted', `${ut.percent(v.trust_percent)} of ` +
			`${ut.time(v.device_us)} of device time; ${ut.time(v.doubted_us)} in doubt, ${ut.time(v.lost_us)} ` +
			`lost. ${ut.number(v.events_read, 0)} events were read, ${ut.number(v.events_kept, 0)} were there after all stages.` +
			(v.missing_ranks.length ? ` Ranks that are missing: ${v.missing_ranks.join(', ')}.` : '') +
			(v.stopped ? ` The analysis stopped: ${v.stopped}` : ''));

		if (v.issues.length)
			ut.table(where, { rows: v.issues, columns: [
				{ key: 'severity', label: 'Severity', cls: issue => issue.severity },
				{ key: 'count', label: 'Count', num: true, format: n => ut.number(n, 0) },
				{ key: 'share_percent', label: 'Share', num: true, format: ut.percent },
				{ key: 'of', label: 'Of' },
				{ key: 'text', label: 'What' },
			] });
		if (v.clocks.length)
			ut.table(ut.section('Clocks', 'A straight line through host times and cycles of each rank.'),
				{ rows: v.clocks, columns: [
					{ key: 'rank', label: 'Rank', num: true },
					{ key: 'given_mhz', label: 'Given MHz', num: true, format: n => ut.number(n, 3) },
					{ key: 'detected_mhz', label: 'Detected MHz', num: true, format: n => ut.number(n, 3) },
					{ key: 'residual_rms_us', label: 'Residual (rms)', num: true, format: ut.time },
					{ key: 'residual_max_us', label: 'Residual (max)', num: true, format: ut.time },
					{ key: 'outliers', label: 'Outliers', num: true },
				] });
		if (v.messages.length)
			ut.table(ut.section('What was said'), { rows: v.messages, columns: [
				{ key: 'severity', label: 'Severity', cls: message => message.severity },
				{ key: 'text', label: 'Message' },
			] });
	}

	function help() {
		ut.section('How to read this', 'Compute is time in which a kernel runs. Exposed communication, ' +
			'transfer and preparation count only where nothing of what stands before them in this list goes ' +
			'on; the rest is idle. A rank comes last to a collective if its first step begins last; how late ' +
			'is against the median of the others. Energy is the power counter summed over the time of each ' +
			'kernel; kernels that run at the same time are each charged all of it. Trust is the share of ' +
			'device time that is still there and about whose length and place host and device agree.');
	}

	[headline, steps, overlap, ranks, kernels, collectives, power, verify, help].forEach(part => part());
})();
