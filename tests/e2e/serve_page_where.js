// serve_page_where.js - scenarios of serve_page.js: runs on another machine, of a process that runs already, and of
// the ranks of an MPI job, started from the page.
'use strict';
const { assert } = require('./serve_page.js');

const where = d => d.page.getByRole('region', { name: 'WHERE' });

/* Another machine: added, its key looked at, a run on it, and a key that is another one. */
async function machines(d) {
	const { page } = d;

	d.step('a machine is added');
	await d.configure();
	await d.button('Add a machine…').click();
	const dialog = page.getByRole('dialog'), devices = page.locator('.devices'), again = d.button('Look for devices again');

	await dialog.getByLabel('Name').fill('gpu node');
	await dialog.getByLabel('Host').fill('-oProxyCommand=x');
	d.expect(400);
	await dialog.getByRole('button', { name: 'Save and test' }).click();
	await dialog.getByRole('alert').getByText('host: a name or an address').waitFor();
	await dialog.getByLabel('Host').fill('127.0.0.1');
	await dialog.getByLabel('Port').fill(String(d.values.machine.port));
	await dialog.getByLabel('User').fill(d.values.machine.user);
	await dialog.getByRole('button', { name: 'Password' }).click();
	assert.equal(await dialog.getByLabel('Key file').count(), 0);
	await dialog.getByRole('button', { name: 'Key', exact: true }).click();
	await dialog.getByLabel('Key file').fill(d.values.machine.identity);
	await d.shot('machine-dialog');
	await dialog.getByRole('button', { name: 'Save and test' }).click();

	d.step('its key is shown, and nothing runs before it is accepted');
	await where(d).getByText(d.values.fingerprint).waitFor();
	assert.ok(await page.getByRole('radio', { name: /gpu node/ }).isChecked());
	await d.shot('machine-key');
	await d.label('Application').fill(d.values.program);
	await d.analysis('ITT timeline');
	await d.settled();
	let answer;
	const late = new Promise(resolve => { answer = resolve; });
	await page.route('**/api/v1/command', async route => {
		await late;
		await route.continue();
	});
	await d.label('Application parameters').fill('task there');
	const about = page.waitForResponse('**/api/v1/command'); // the line, which is asked for while it is started
	d.expect(400);
	await d.button('Start', true).click();
	await where(d).getByText('its key has not been accepted yet').waitFor();
	answer();
	await about;
	await page.unroute('**/api/v1/command');
	await d.settled();
	assert.equal(await where(d).getByText('its key has not been accepted yet').count(), 1);
	d.step('which devices it has is not known before');
	await d.analysis('GPU offload');
	await devices.getByText('Test the connection to see its devices.').waitFor();
	assert.equal(await again.count(), 0);
	await d.analysis('ITT timeline');
	await d.button('Accept this key').click();
	await where(d).locator('.badge', { hasText: 'ready' }).nth(1).waitFor();
	await where(d).getByText(/Our files were copied there/).waitFor();
	await d.lineHas(`ssh -p ${d.values.machine.port}`);
	assert.equal(await d.button('Browse for a file').count(), 0);
	await d.shot('machine-ready');

	d.step('the test has told which devices it has, and the page does not ask it again');
	await where(d).getByText(/cores, (no|\d+) devices?\./).waitFor();
	await d.analysis('GPU offload');
	await devices.getByText(d.values.device ? `Devices on gpu node: 0: ${d.values.device}` : 'No device was found on gpu node').waitFor();
	await d.shot('machine-devices');
	await page.reload();
	await page.getByRole('radio', { name: /gpu node/ }).check();
	await d.analysis('GPU offload');
	await devices.getByText(/on gpu node/).waitFor();
	await where(d).locator('.badge', { hasText: 'not tested' }).waitFor();
	await d.label('Application').fill(d.values.program);
	await d.label('Application parameters').fill('task there');
	await d.analysis('ITT timeline');

	d.step('a run there is a result here');
	await d.button('Start', true).click();
	await page.waitForURL(/\/r\/first\/r001/);
	await d.idle();
	await d.tab('Summary').waitFor();
	await page.getByRole('gridcell', { name: 'there' }).first().waitFor();
	await d.tab('Analysis Configuration').click();
	await page.locator('dd', { hasText: 'gpu node' }).waitFor();

	d.step('its processes are listed');
	await d.configure();
	await d.button('Attach to Process').click();
	await page.getByLabel('Filter Processes').fill(d.values.victim);
	await page.getByRole('gridcell', { name: String(d.values.pid), exact: true }).click();
	assert.equal(await d.label('Process').inputValue(), String(d.values.pid));

	d.step('while it runs there the page says where, and Stop works');
	await d.button('Launch Application').click();
	await d.label('Application').fill('bash');
	await d.label('Application parameters').fill(d.values.endless);
	await d.button('Start', true).click();
	await page.locator('.runstrip .output', { hasText: 'tick 1' }).waitFor();
	d.step('the timeline grows while it runs there');
	await d.tab('Timeline').waitFor();
	await d.painted();
	const before = await page.evaluate(() => window.app.info.value.slices);

	await page.waitForFunction(b => window.app.info.value.live && window.app.info.value.slices > b, before);
	await page.locator('.runstrip', { hasText: 'on gpu node' }).waitFor();
	await d.shot('machine-live');
	d.step('Pause and Stop work there');
	await d.button('Pause', true).click();
	await page.locator('.runstrip .badge', { hasText: 'paused' }).waitFor();
	await d.button('Stop', true).click();
	await d.idle();
	await d.tab('Summary').waitFor();

	d.step('it is edited and tested again');
	await d.configure();
	await d.button('Edit…').click();
	await dialog.getByLabel('Folder there').fill('~/elsewhere');
	await dialog.getByRole('button', { name: 'Save and test' }).click();
	await where(d).getByText(/Our files were copied there/).waitFor();

	d.step('devices that have gone, and a machine that lies about them');
	await d.analysis('GPU offload');
	await d.ask('BARE');
	await again.click();
	await devices.getByText('No device was found on gpu node').waitFor();
	await devices.getByText(/opencl: /).waitFor();
	await d.ask('HOSTILE');
	await again.click();
	await devices.getByText('<img src=x onerror=window.hacked=1>').waitFor();
	await devices.getByText('not there <script>window.hacked=2</script>').waitFor();
	assert.equal(await page.evaluate(() => window.hacked), undefined);
	assert.equal(await page.locator('img, iframe, object, embed').count(), 0);
	assert.ok(await devices.evaluate(e => e.scrollWidth <= e.clientWidth), 'it is wider than its panel');
	await d.shot('machine-lies');

	d.step('a machine that shows another key is refused');
	await d.ask('KEY');
	await where(d).getByRole('button', { name: 'Test connection' }).click();
	await where(d).locator('.badge', { hasText: 'another key' }).waitFor();
	await where(d).getByText(/another key than the one that was accepted/).waitFor();
	await d.shot('machine-changed');
	await d.button('Forget the old key').click();
	await d.button('Accept this key').waitFor();

	d.step('it is removed');
	await where(d).getByRole('button', { name: 'Remove' }).click();
	await page.getByRole('radio', { name: /gpu node/ }).waitFor({ state: 'detached' });
	assert.ok(await page.getByRole('radio', { name: /This machine/ }).isChecked());
}

/* A process that runs already: chosen, sampled, shown; it goes on. */
async function attach(d) {
	const { page } = d;

	d.step('the process is chosen from the list');
	await d.configure();
	await d.button('Attach to Process').click();
	await page.getByLabel('Filter Processes').fill('burn');
	await page.getByRole('gridcell', { name: String(d.values.pid), exact: true }).click();
	await d.analysis('Hotspots');
	await d.label('Stop after').fill('1s');
	await d.lineHas(`--attach ${d.values.pid}`);
	await d.lineHas('1s');
	d.step('it is sampled');
	await d.button('Start', true).click();
	await page.waitForURL(/\/r\/first\/r001-attach\//);
	await d.idle();
	d.step('where its time goes');
	await d.tab('Hotspots').click();
	await page.getByRole('gridcell', { name: /burn_half/ }).first().waitFor();
	await d.shot('attached');
	d.step('Stop ends the sampling, not the process');
	await d.configure();
	await d.button('Attach to Process').click();
	await d.label('Process').fill(String(d.values.pid));
	await d.label('Stop after').fill('');
	await d.lineLacks('--duration');
	await d.button('Start', true).click();
	await page.locator('.runstrip .badge', { hasText: 'recording' }).waitFor();
	await d.button('Stop', true).click();
	await d.idle();
	await d.tab('Hotspots').waitFor();
}

/* An MPI launcher line: each rank is recorded, and the page tells them apart. */
async function mpi(d) {
	const { page } = d;

	d.step('the launcher stands before unitrace in the line');
	await d.configure();
	await d.button('MPI Job').click();
	await d.label('MPI launcher').fill(d.values.launcher);
	await d.label('Application').fill(d.values.program);
	await d.label('Application parameters').fill(d.values.parameters);
	await d.label('Name of variable 1').fill('HYDRA_LAUNCHER');
	await d.label('Value of variable 1').fill('fork');
	await d.analysis('MPI ranks');
	await d.lineHas('--chrome-mpi-logging');
	assert.match(await d.line(), /mpirun\.mpich -n 3 \S*unitrace .*--chrome-mpi-logging/);
	d.step('three ranks');
	await d.button('Start', true).click();
	await page.waitForURL(/\/r\/first\/r001/);
	await d.idle();
	await d.tab('Summary').waitFor();
	await d.tab('Ranks').click();
	await page.getByLabel(/between 3 places/).waitFor();
	assert.match(await page.locator('section[aria-label="Verdict"]').first().innerText(), /rank \d/i); // on a busy machine any may be late
	await d.shot('ranks');
	await d.tab('Timeline').click();
	await d.painted();
}

module.exports = { machines, attach, mpi };
