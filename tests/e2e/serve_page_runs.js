// serve_page_runs.js - scenarios of serve_page.js: Configure Analysis and runs. The first two are the recipes
// that people come with (kernel profiling with a paused start, PyTorch with ITT), done as they are written.
'use strict';
const { assert, fs } = require('./serve_page.js');

/* Kernel profiling, from the welcome page to the result. */
async function kernels(d) {
	const { page } = d;

	d.step('the web interface opens with the welcome page');
	await d.sees('Welcome');
	await d.shot('seed1-welcome');

	d.step('first create a new project for each kernel');
	await d.button('New Project…').click();
	await d.label('Name').fill('softmax');
	await d.button('Create').click();
	await page.locator('.prow', { hasText: 'softmax' }).waitFor();

	d.step('click Configure Analysis');
	await page.getByRole('link', { name: 'Configure Analysis…' }).last().click();
	for (const pane of ['WHERE', 'WHAT', 'HOW']) await page.getByRole('heading', { name: pane }).waitFor();

	d.step('WHERE: the machine');
	assert.ok(await page.getByRole('radio', { name: /This machine/ }).isChecked());

	d.step('WHAT: bash, run.sh, and where the script lies');
	await d.label('Application').fill('bash');
	await d.label('Application parameters').fill('run.sh');
	await d.label('Working directory').fill(d.values.folder);
	await page.getByText('Advanced', { exact: true }).click();
	assert.ok(await d.label('Analyze child processes').isChecked());

	d.step('HOW: GPU compute hotspots');
	await d.analysis('GPU compute hotspots');
	await d.lineHas('-q -g Memory');
	await page.getByLabel('Metric group').selectOption('ComputeBasic');
	await d.lineHas('-g ComputeBasic');
	assert.ok(await page.getByLabel('Every call of the runtime').isDisabled()); // grey: takes a custom one

	d.step('grey options: create a new custom type, then they can be changed');
	await d.button('Clone to edit').click();
	await d.label('Title').fill('GPU Compute 0');
	await d.button('Clone', true).click();
	await page.getByRole('radio', { name: /GPU Compute 0/ }).waitFor();
	await page.getByLabel('Every call of the runtime').check();
	await d.lineHas('--chrome-call-logging');
	await d.lineHas('-g ComputeBasic');

	d.step('no such device is here: the timeline of tasks and hotspots is what this machine has');
	await d.analysis('Hotspots');
	await d.shot('seed1-configure');

	d.step('Start Paused: nothing is collected until itt.resume()');
	await d.button('Start Paused').hover();
	await d.lineHas('--start-paused');
	await d.button('Start Paused').click();
	await page.waitForURL(/\/r\/softmax\/r001/);
	await page.locator('.runstrip .badge', { hasText: 'paused' }).waitFor();
	await page.locator('.runstrip', { hasText: 'warm-up' }).waitFor();
	await d.sees('Nothing has been recorded yet.');
	await d.sees('A run that is paused begins to record with');
	await d.shot('seed1-paused');

	d.step('the program resumes it, and the page says so');
	fs.writeFileSync(`${d.values.folder}/go`, '');
	await page.locator('.runstrip .badge', { hasText: 'recording' }).waitFor();
	fs.writeFileSync(`${d.values.folder}/seen`, '');

	d.step('the result is collected, and opens with its summary');
	await d.idle();
	await d.tab('Summary').waitFor();
	await page.getByRole('gridcell', { name: 'compiled(args)' }).first().waitFor();
	assert.equal(await page.getByRole('gridcell', { name: 'warm-up' }).count(), 0);
	assert.equal(await page.getByRole('gridcell', { name: 'afterwards' }).count(), 0);
	await d.shot('seed1-summary');

	d.step('the platform timeline');
	await d.tab('Timeline').click();
	await d.painted();
	await d.shot('seed1-timeline');

	d.step('the collection log');
	await d.tab('Collection Log').click();
	await d.sees('the program has ended');
	await d.sees('exit status 0');
	await page.getByRole('log', { name: 'Output of the program' }).getByText('done').waitFor();
}

/* PyTorch with ITT. */
async function torch(d) {
	const { page } = d;

	d.step('1. click the blue Configure Analysis... button');
	await page.getByRole('link', { name: 'Configure Analysis…' }).first().click();
	d.step('2. you will see three main sections');
	for (const pane of ['WHERE', 'WHAT', 'HOW']) await page.getByRole('heading', { name: pane }).waitFor();
	d.step('WHERE: the local machine');
	assert.ok(await page.getByRole('radio', { name: /This machine/ }).isChecked());
	d.step('WHAT: /bin/bash and the full path of launch.sh');
	await d.label('Application').fill('/bin/bash');
	await d.label('Application parameters').fill(d.values.script);
	d.step('HOW: Hotspots');
	await d.analysis('Hotspots');
	await d.lineHas('--sampling=1000');
	d.step('click Start');
	await d.button('Start', true).click();
	await page.waitForURL(/\/r\/first\/r001-launch\//); // there was no project: one is made
	await d.idle();
	d.step('the platform tab has the timeline');
	await d.tab('Summary').waitFor();
	const filter = page.getByLabel('Filter Slices by name');

	for (const name of ['iteration_0', 'iteration_1', 'iteration_2', 'aten::conv2d', 'aten::linear']) {
		d.step(`${name} is labelled`);
		await filter.fill(name);
		await page.getByRole('gridcell', { name }).first().waitFor();
	}
	await filter.fill('');
	await d.tab('Timeline').click();
	await d.painted();
	d.step('the main thread and its labels');
	await page.getByPlaceholder('Filter tracks').fill('python');
	await page.locator('.hd', { hasText: 'python' }).first().waitFor();
	await page.locator('.hd', { hasText: 'CPU usage' }).first().waitFor();
	await d.painted();
	await d.shot('seed2-timeline');
	d.step('where the time goes');
	await d.tab('Flame graph').click();
	await page.locator('.flame .box').first().waitFor();
	await d.shot('seed2-flame');
}

/* PyTorch: configured, started paused, resumed from Python, analysed. */
async function torchPaused(d) {
	const { page } = d;

	d.step('configured');
	await d.newProject('train');
	await d.configure();
	await d.label('Application').fill(d.values.python);
	await d.label('Application parameters').fill('train.py');
	await d.label('Working directory').fill(d.values.folder);
	await d.analysis('Hotspots');
	d.step('started paused');
	await d.button('Start Paused').click();
	await page.waitForURL(/\/r\/train\/r001-train\//);
	await page.locator('.runstrip .badge', { hasText: 'paused' }).waitFor();
	await page.locator('.runstrip .output', { hasText: 'warm' }).waitFor();
	d.step('resumed from Python');
	fs.writeFileSync(`${d.values.folder}/go`, '');
	await d.idle();
	d.step('analysed: only what was wanted is there');
	await d.tab('Summary').waitFor();
	const filter = page.getByLabel('Filter Slices by name');

	for (const name of ['step_0', 'step_39', 'aten::addmm', 'aten::relu']) {
		await filter.fill(name);
		await page.getByRole('gridcell', { name }).first().waitFor();
	}
	for (const name of ['warm-up', 'afterwards']) {
		await filter.fill(name);
		await page.getByRole('gridcell', { name, exact: true }).first().waitFor({ state: 'detached' });
	}
	await filter.fill('');
	await d.shot('torch-paused-summary');
	d.step('the timeline and where the time goes');
	await d.tab('Timeline').click();
	await d.painted();
	await d.shot('torch-paused-timeline');
	await d.tab('Flame graph').click();
	await page.locator('.flame .box').first().waitFor();
	await d.tab('Collection Log').click();
	await d.sees('the program has ended');
}

/* Each GPU analysis, with what can be chosen for it, and the tabs that its result has. */
async function gpu(d) {
	const { page } = d;
	const analyses = [
		['GPU offload', {}, '--chrome-kernel-logging', ['Summary', 'Timeline', 'Kernels']],
		['GPU compute hotspots', { 'Kernels of interest': 'matmul', 'Instances of each kernel': '1-2', 'Metric group': 'Memory' },
			'--include-kernels matmul -q -g Memory', ['Metrics', 'Memory Hierarchy']],
		['GPU metrics over time', { 'Sampling interval': '50' }, '-i 50', ['Metrics', 'Timeline']],
		['Stall analysis', { 'Kernels of interest': 'matmul' }, '--stall-sampling', ['Metrics']],
		['Roofline', {}, '-g Roofline', ['Roofline', 'Metrics']],
	];

	for (const [title, options, words, tabs] of analyses) {
		d.step(`${title}: configured`);
		await d.configure();
		await d.label('Application').fill(d.values.program);
		await d.label('Application parameters').fill(d.values.parameters);
		for (const [i, [name, value]] of Object.entries(d.values.variables).entries()) {
			await d.label(`Name of variable ${i + 1}`).fill(name);
			await d.label(`Value of variable ${i + 1}`).fill(value);
		}
		await d.analysis(title);
		await page.locator('.devices').waitFor(); // what there is, or why there is nothing
		for (const [name, value] of Object.entries(options)) {
			const field = d.label(name);

			if (await field.evaluate(e => e.tagName) === 'SELECT') await field.selectOption(value);
			else await field.fill(value);
		}
		await d.lineHas(words);
		if (title === 'GPU compute hotspots') await d.shot('gpu-configure');
		d.step(`${title}: run`);
		await d.button('Start', true).click();
		await page.waitForURL(/\/r\//);
		await d.idle();
		await d.tab('Summary').waitFor();
		for (const tab of tabs) {
			d.step(`${title}: ${tab}`);
			await d.tab(tab).first().click();
			await page.locator('#view').getByText(/matmul|relu/).or(page.locator('#view canvas')).first().waitFor();
			await d.shot(`gpu-${title}-${tab}`.replaceAll(' ', '-'));
		}
		if (title !== 'Stall analysis') continue;
		d.step(`${title}: a double click leads to the code`);
		const code = page.locator('section[aria-label="The code with its samples"]');

		assert.equal(await code.getByRole('gridcell').count(), 0); // nothing is read before
		await page.locator('section[aria-label="Kernels"] td', { hasText: 'matmul' }).first().dblclick();
		await code.getByText(d.values.instruction || /nvdisasm of the CUDA toolkit is needed/).first().waitFor();
		await d.shot('gpu-code');
	}
}

/* An analysis of devices of a program that uses none says so. */
async function noGpu(d) {
	const { page } = d;

	await d.configure();
	await d.label('Application').fill(d.values.program);
	await d.label('Application parameters').fill('task here');
	await d.analysis('GPU compute hotspots');
	await d.button('Start', true).click();
	await page.waitForURL(/\/r\//);
	await d.idle();
	await page.getByRole('note').getByText('No work of a device was recorded.').waitFor();
	await page.locator('.nodevice .devices').waitFor();
	await d.tab('Summary').waitFor();
	await d.shot('no-device');
	d.step('others do not speak of devices');
	await d.configure();
	await d.analysis('ITT timeline');
	await d.button('Start', true).click();
	await page.waitForURL(/r002/);
	await d.idle();
	await d.tab('Summary').waitFor();
	assert.equal(await page.locator('.nodevice').count(), 0);
}

/* Every control of Configure Analysis. */
async function configure(d) {
	const { page } = d;

	await d.configure();
	d.step('what is missing is said when one starts, at its field, which has the focus');
	assert.equal(await page.locator('.field.wrong').count(), 0);
	d.expect(400);
	await d.button('Start', true).click();
	await page.locator('.field.wrong', { hasText: 'Application' }).getByText('which program?').waitFor();
	await page.waitForFunction(() => document.activeElement.getAttribute('aria-invalid') === 'true');

	d.step('a program and a folder that are not there are told while they are typed');
	await d.label('Application').fill('/nonexistent/x');
	await page.locator('.field.wrong', { hasText: 'Application' }).getByText('there is no such file on this machine').waitFor();
	await d.label('Working directory').fill('/nonexistent');
	await page.locator('.field.wrong', { hasText: 'Working directory' }).getByText('there is no such folder').waitFor();
	await d.label('Working directory').fill('');
	await d.label('Application').fill('sh');
	await page.waitForFunction(() => !document.querySelector('.field.wrong'));
	await d.label('Application').fill('');

	d.step('files and folders are chosen');
	await d.button('Browse for a file').first().click();
	await d.button('.. (up)').waitFor();
	await page.keyboard.press('Escape');
	await d.label('Application').fill(`${d.values.folder}/x`);
	await d.button('Browse for a file').first().click();
	await d.button('prog.sh').click();
	assert.equal(await d.label('Application').inputValue(), `${d.values.folder}/prog.sh`);
	await d.label('Working directory').fill(d.values.folder);
	await d.button('Browse for a folder').click();
	await d.button('sub/').click();
	await d.sees(`${d.values.folder}/sub`);
	await d.button('Choose this folder').click();
	assert.equal(await d.label('Working directory').inputValue(), `${d.values.folder}/sub`);

	d.step('every field is in the line');
	await d.label('Application parameters').fill(`'a b' c"d`);
	await page.locator('.field.wrong', { hasText: 'Application parameters' }).waitFor();
	await d.label('Application parameters').fill(`'a b' c`);
	await d.lineHas(`prog.sh 'a b' c`);
	await d.label('Name of variable 1').fill('1X');
	await d.label('Value of variable 1').fill('y z');
	await d.sees('a variable has a name of letters');
	await d.label('Name of variable 1').fill('DEBUG');
	await d.lineHas(`DEBUG='y z'`);
	await d.label('Name of variable 2').waitFor();
	await page.getByText('Advanced', { exact: true }).click();
	await d.label('Analyze child processes').uncheck();
	await d.lineHas('--follow-child-process');
	await d.label('Analyze child processes').check();
	await d.label('Auto-resume after').fill('soon');
	await page.locator('.field.wrong', { hasText: 'Auto-resume after' }).waitFor();
	await d.label('Auto-resume after').fill('100ms');
	await d.lineHas('100ms');
	await d.label('Auto-stop after').fill('50s');
	await d.lineHas('50s');
	await d.label("Limit the result's size").fill('lots');
	await page.locator('.field.wrong', { hasText: 'Limit' }).waitFor();
	await d.label("Limit the result's size").fill('500M');
	await d.lineHas('500M');
	await d.label("Limit the result's size").fill('');
	await d.label('Keep only the last').fill('10s');
	await d.lineHas('10s');
	await d.label('Keep only the last').fill('');
	await d.label('Name of the result').fill('mine');

	d.step('every analysis has a line, an explanation and a cost');
	const lines = new Set();
	const radios = page.getByRole('radiogroup', { name: 'Analysis' }).getByRole('radio');

	for (let i = 0; i < await radios.count(); i++) {
		await radios.nth(i).click();
		await d.settled();
		lines.add(await d.line());
		assert.equal(await page.getByRole('group', { name: 'Expected overhead' }).count(), 1);
	}
	assert.equal(lines.size, await radios.count());
	await radios.first().focus();
	d.step('analyses by keyboard');
	await radios.last().click();
	await page.keyboard.press('ArrowDown');
	assert.ok(await radios.first().getAttribute('aria-checked') === 'true');

	d.step('a clone is kept, changed, and deleted');
	await d.analysis('Hotspots');
	await page.getByLabel('CPU samples').fill('99999999');
	await page.locator('.field.wrong', { hasText: 'CPU samples' }).waitFor();
	await page.getByLabel('CPU samples').fill('500');
	await d.lineHas('--sampling=500');
	await d.button('Clone to edit').click();
	await d.label('Title').fill('mine');
	await d.button('Clone', true).click();
	await page.getByRole('radio', { name: /mine/ }).waitFor();
	await d.lineHas('--sampling=500');
	await page.getByLabel('Stacks').selectOption('fp');
	await d.lineHas('--call-graph fp');
	await page.getByText('All other options').click();
	const kept = page.waitForResponse(r => r.request().method() === 'PUT' &&
		r.request().postData().includes('"mpi":"1"'));

	await page.getByLabel('MPI calls and messages').check();
	await d.lineHas('--chrome-mpi-logging');
	assert.ok((await kept).ok());
	await page.reload();
	await page.getByRole('radio', { name: /mine/ }).click();
	await d.lineHas('--chrome-mpi-logging');
	await d.lineHas('--call-graph fp');
	await page.locator('.how').getByRole('button', { name: 'Delete' }).click();
	await page.getByRole('radio', { name: /mine/ }).waitFor({ state: 'detached' });

	d.step('MPI');
	await d.button('MPI Job').click();
	await d.label('MPI launcher').fill('mpiexec -n 2');
	await d.label('Application').fill('prog.sh');
	await d.lineHas('mpiexec -n 2');

	d.step('attach: a list of processes');
	await d.button('Attach to Process').click();
	await page.getByLabel('Filter Processes').fill(d.values.victim);
	await page.getByRole('gridcell', { name: String(d.values.pid), exact: true }).click();
	assert.equal(await d.label('Process').inputValue(), String(d.values.pid));
	await d.lineHas(`--attach ${d.values.pid}`);
	await d.label('Stop after').fill('2s');
	await d.button('Look again').click();
	assert.equal(await d.button('Start Paused').count(), 0);
	await d.lineHas('2s');

	d.step('the line is copied');
	await d.button('Copy', true).last().click();
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await d.line());
}

/* Pause, resume, stop, cancel; programs that fail or are killed. */
async function control(d) {
	const { page } = d;
	const begin = async (script, paused) => {
		await d.configure();
		await d.label('Application').fill('bash');
		await d.label('Application parameters').fill(script);
		await d.analysis('ITT timeline');
		await d.button(paused ? 'Start Paused' : 'Start', true).click();
		await page.waitForURL(/\/r\//); // a short one may have ended by now
		await page.locator('.rrow.shown').waitFor();
	};
	const state = text => page.locator('.runstrip .badge', { hasText: text }).waitFor();

	d.step('start paused, resume, pause');
	await d.configure();
	await d.label('Application').fill('bash');
	await d.label('Application parameters').fill(d.values.endless);
	await d.analysis('ITT timeline');
	await d.button('Start Paused').click();
	await state('paused');
	assert.ok(await d.button('Pause', true).isDisabled());
	await d.button('Resume', true).click();
	await state('recording');
	d.step('what it says is shown while it says it');
	await page.locator('.runstrip .output', { hasText: 'tick 3' }).waitFor();
	await d.button('Output', true).click();
	assert.equal(await page.locator('.runstrip .output').count(), 0);
	d.step('the timeline grows');
	await d.tab('Timeline').waitFor();
	await d.painted();
	const slices = () => page.evaluate(() => window.app.info.value.slices);
	const before = await slices();

	await page.waitForFunction(b => window.app.info.value.slices > b, before);
	assert.equal(await d.button('Follow', true).count(), 1);
	await d.shot('live');
	d.step('what was heard last stays, when an older answer arrives after it');
	const tree = await d.hold('projects');

	await d.elsewhere('POST', 'projects', { name: 'meanwhile' });
	await tree.isGiven;
	await d.button('Pause', true).click();
	await state('paused');
	tree.letGo();
	await page.locator('.prow', { hasText: 'meanwhile' }).waitFor();
	assert.match(await page.locator('.runstrip .badge').first().textContent(), /paused/);
	d.step('another page sees it, too, through the same stream');
	const other = await d.context.newPage();

	await other.goto(`${d.values.origin}/configure`);
	await other.locator('.running', { hasText: 'paused' }).waitFor();
	d.step('stop keeps what was recorded');
	await d.button('Stop', true).click();
	await d.idle();
	await d.tab('Summary').waitFor();
	await page.getByRole('gridcell', { name: 'tick' }).first().waitFor();
	await other.locator('.running').waitFor({ state: 'detached' });
	await other.close();

	d.step('cancel ends everything');
	await begin(d.values.endless, false);
	await page.locator('.runstrip .output', { hasText: 'tick 1' }).waitFor();
	d.expect(404, 404, 404, 404); // what the live view asks for just then is not there any more
	await d.button('Cancel', true).click();
	await d.idle();
	await page.locator('.rrow.shown .badge', { hasText: 'failed' }).waitFor();
	await d.sees('cancelled');

	d.step('a program that is not there is a result that says why');
	await d.configure();
	await d.label('Application').fill('/nonexistent/program');
	await d.label('Application parameters').fill('');
	await d.button('Start', true).click();
	await page.waitForURL(/\/r\/.*program/);
	await page.locator('.rrow.shown .badge', { hasText: 'failed' }).waitFor();
	await d.sees(/cannot be executed/);
	await d.tab('Analysis Configuration').click();
	await d.button('Configure again').click();
	assert.equal(await d.label('Application').inputValue(), '/nonexistent/program');

	d.step('a program that is killed is a result');
	await begin(d.values.killed, false);
	await d.idle();
	await page.locator('.rrow.shown .badge', { hasText: 'killed' }).waitFor();
	await d.tab('Collection Log').click();
	await d.sees('ended by SIGKILL');

	d.step('an exit status is told');
	await begin(d.values.status3, false);
	await d.idle();
	await page.locator('.rrow.shown .badge', { hasText: 'exit 3' }).waitFor();

	d.step('what was run last, read late, does not replace what is typed');
	const last = /\/api\/v1\/projects\/[^/]+\/results\/[^/]+$/;

	const held = await d.hold(last);

	await page.goto(`${d.values.origin}/configure`);
	await held.isGiven;
	await d.label('Application').fill('typed');
	held.letGo();
	await d.settled();
	assert.equal(await d.label('Application').inputValue(), 'typed');
}

/* Without the right to start programs the page says so, and still shows the line. */
async function viewOnly(d) {
	await d.configure();
	await d.sees('This server starts nothing.');
	await d.label('Application').fill('ls');
	await d.lineHas('ls');
	assert.ok(await d.button('Start', true).isDisabled());
	assert.equal(await d.button('Browse for a file').count(), 0);
}

/* How long it takes from the click until the program runs. */
async function speed(d) {
	const took = [];

	for (let i = 0; i < 3; i++) {
		await d.configure();
		await d.label('Application').fill('bash');
		await d.label('Application parameters').fill(d.values.stamp);
		await d.analysis('ITT timeline');
		await d.lineHas(d.values.stamp);
		await d.settled();
		const start = Date.now() / 1000;

		await d.page.evaluate(() => [...document.querySelectorAll('.go button')]
			.find(b => b.textContent === 'Start').click());
		await d.page.waitForURL(/\/r\//);
		await d.idle();
		await d.page.locator('.rrow.shown').waitFor();
		took.push(Number(fs.readFileSync(d.values.stamped, 'utf8')) - start);
	}
	return { took };
}

/* The server ends and comes again: the run goes on, the page finds it. */
async function survives(d) {
	const { page } = d;

	await d.configure();
	await d.label('Application').fill('bash');
	await d.label('Application parameters').fill(d.values.endless);
	await d.analysis('ITT timeline');
	await d.button('Start', true).click();
	await page.locator('.runstrip .output', { hasText: 'tick 1' }).waitFor();
	d.step('the server is killed');
	console.log('KILL');
	await page.locator('.lost').waitFor();
	console.log('START');
	d.step('the next one is found');
	await page.locator('.lost').waitFor({ state: 'detached' });
	await page.locator('.runstrip .badge', { hasText: 'recording' }).waitFor();
	await d.button('Stop', true).click();
	await d.idle();
	d.complaints = d.complaints.filter(c => !/ERR_|Failed to load|EventSource|net::/.test(c));
}

module.exports = { kernels, torch, torchPaused, gpu, noGpu, configure, control, viewOnly, speed, survives };
