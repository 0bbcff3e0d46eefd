// serve_page_projects.js - scenarios of serve_page.js: coming in, projects and results, many of them, names that
// want to be more than names, keyboard and screen readers.
'use strict';
const http = require('http');
const { axe, assert, path } = require('./serve_page.js');

const PASSPHRASE = 'correct horse';

async function setPassphrase(d, words, old) {
	if (old) await d.label('Current passphrase').fill(old);
	await d.label(old ? 'New passphrase' : 'Passphrase').fill(words);
	await d.label('Confirm').fill(words);
	await d.button('Set passphrase').click();
}

/* The page is loaded again after the server has taken the token, and before it has heard so. */
async function reloaded(d) {
	const { page } = d;

	d.step('the answer is lost: the address has been used, and nobody is in');
	await page.getByText('the server does not answer').first().waitFor();
	assert.doesNotMatch(page.url(), /token/);
	assert.deepEqual(await d.context.cookies(), []);
	d.step('loaded again, the same tab is let in');
	await page.reload();
	await d.sees('Welcome');
	assert.equal(await page.evaluate(() => sessionStorage.length), 0);
	d.step('nobody else is');
	const other = await d.browser.newContext();
	const stranger = await other.newPage();

	await stranger.goto(d.values.address);
	await stranger.getByText('This address does not let you in').waitFor();
	await other.close();
	d.complaints = d.complaints.filter(c => !/ERR_FAILED/.test(c));
}

/* The first request to log in reaches the server, and its answer is lost. */
reloaded.entering = async d => {
	let lost = false;

	await d.page.route('**/api/v1/login', async route => {
		const r = route.request();

		if (lost) return route.continue();
		lost = true;
		await new Promise((done, fail) => {
			const sent = http.request(r.url(), { method: 'POST', headers: r.headers() }, answer => {
				answer.resume();
				answer.on('end', () => (answer.statusCode === 204 ? done() : fail(new Error(answer.statusCode))));
			});

			sent.on('error', fail);
			sent.end(r.postData());
		});
		return route.abort();
	});
};

async function entry(d) {
	d.step('the token becomes a cookie and leaves the address');
	await d.sees('Welcome');
	assert.doesNotMatch(d.page.url(), /token/);

	d.step('the address works once');
	const other = await d.browser.newContext();
	const stranger = await other.newPage();

	await stranger.goto(d.values.address);
	await stranger.getByText('This address does not let you in').waitFor();
	await stranger.getByRole('heading', { name: 'Open the address of the terminal' }).waitFor();

	d.step('a passphrase is set');
	await d.page.getByRole('link', { name: 'Settings' }).click();
	await d.label('Passphrase').fill('short');
	await d.sees('At least 8 characters.');
	await d.label('Passphrase').fill(PASSPHRASE);
	await d.label('Confirm').fill('another one');
	await d.sees('The two are not the same.');
	assert.ok(await d.button('Set passphrase').isDisabled());
	await setPassphrase(d, PASSPHRASE);
	await d.sees('The passphrase is set');
	await d.label('Current passphrase').waitFor();

	d.step('who is not in is asked for it');
	await stranger.reload();
	await stranger.getByRole('heading', { name: 'Log in' }).waitFor();
	await stranger.getByLabel('Passphrase').fill('wrong');
	await stranger.getByRole('button', { name: 'Log in' }).click();
	await stranger.getByText('That is not the passphrase.').waitFor();
	await stranger.getByLabel('Passphrase').fill(PASSPHRASE);
	await stranger.getByRole('button', { name: 'Log in' }).click();
	await stranger.getByRole('heading', { name: 'Welcome' }).first().waitFor();

	d.step('another passphrase ends the sessions of all others');
	await d.button('Dismiss').evaluateAll(all => all.forEach(button => button.click())); // it may be gone by itself
	await d.button('Dismiss').waitFor({ state: 'detached' });
	await setPassphrase(d, 'battery staple', PASSPHRASE);
	await d.sees('everybody else has to log in again');
	await stranger.getByRole('link', { name: 'Settings' }).click();
	await stranger.getByRole('heading', { name: 'Log in' }).waitFor();

	d.step('too many guesses have to wait');
	for (let i = 0; i < 12 && !await stranger.getByText('Too many wrong passphrases').isVisible(); i++) {
		await stranger.getByLabel('Passphrase').fill(`wrong ${i}`);
		await stranger.getByRole('button', { name: 'Log in' }).click();
		await stranger.waitForFunction(() => /not the passphrase|Too many/.test(document.body.innerText));
		await stranger.waitForFunction(() => !document.querySelector('button[type=submit]').disabled ||
			/Too many/.test(document.body.innerText) || document.querySelector('input').value === '');
	}
	await stranger.getByText('Too many wrong passphrases').waitFor();
	assert.match(await stranger.getByRole('button').first().textContent(), /Wait \d+ s/);
	await other.close();

	d.step('a token for a script is told once and taken back');
	await d.label('Name').fill('nightly');
	await d.button('Make a token').click();
	assert.match(await d.page.locator('.token').textContent(), /^[0-9a-f]{32}$/);
	await d.button('Take back nightly').click();
	await d.sees('None yet');

	d.step('log out');
	await d.button('Log out').first().click();
	await d.page.getByRole('heading', { name: 'Log in' }).waitFor();
}

async function remote(d) {
	d.step('nothing works before a passphrase is set');
	await d.page.getByRole('heading', { name: 'Set a passphrase first' }).waitFor();
	assert.equal(await d.page.locator('.rail').count(), 0);
	await setPassphrase(d, PASSPHRASE);
	await d.sees('Nothing has been recorded here yet.');
}

async function project(d) {
	const { page } = d;

	d.step('an empty server says what to do');
	await d.sees('Nothing has been recorded here yet.');
	await d.sees('No project yet.');

	d.step('projects are made, renamed, deleted, and come back');
	await d.newProject('first');
	await d.menu('first', 'Rename…');
	await d.label('Name').fill('alpha');
	await d.button('Rename', true).click();
	await page.locator('.prow', { hasText: 'alpha' }).waitFor();
	await d.newProject('beta');
	await d.button('New project', true).click();
	await d.label('Name').fill('beta');
	d.expect(409);
	await d.button('Create').click();
	await page.getByRole('alert').filter({ hasText: 'beta' }).waitFor();
	await page.keyboard.press('Escape');
	await d.menu('beta', 'Delete');
	await page.locator('.prow', { hasText: 'beta' }).waitFor({ state: 'detached' });
	await d.undo('beta').click();
	await page.locator('.prow', { hasText: 'beta' }).waitFor();

	d.step('a trace is uploaded, and opens');
	await page.locator('.rail').getByRole('button', { name: 'Import' }).click();
	await d.label('Project').selectOption('alpha');
	await d.label('Files').setInputFiles(d.values.trace);
	await d.label('Name of the result').fill('sent');
	await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
	await page.waitForURL(/\/r\/alpha\/sent\//);
	await d.tab('Summary').waitFor();
	assert.equal(await d.tab('Summary').getAttribute('aria-selected'), 'true');
	await page.getByRole('gridcell', { name: 'inner' }).first().waitFor();
	await d.tab('Timeline').click();
	await d.painted();

	d.step('what to compare it with is chosen where one looks for it');
	await d.tab('Compare').click();
	await d.button('Compare with another result…').click();
	assert.match(await d.label('R2: after').locator('option:checked').textContent(), /^sent \(imported, /);
	d.step('a key that is pressed in a dialog is not the viewer\'s');
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !document.querySelector('dialog[open]'));

	d.step('nothing was run here: neither a state nor a machine is claimed');
	await d.tab('Collection Log').click();
	await d.sees('imported: nothing was run here');
	assert.equal(await page.getByRole('definition').filter({ hasText: /verdict|, imported/ }).count(), 0);
	await d.tab('Analysis Configuration').click();
	await d.sees('none: it was imported');
	assert.equal(await page.getByText('this machine', { exact: true }).count(), 0);

	d.step('two at once are two results');
	await page.locator('.rail').getByRole('button', { name: 'Import' }).click();
	await d.label('Files').setInputFiles([d.values.trace, d.values.other]);
	await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
	await d.sees('2 results imported.');

	d.step('and another comes by its path');
	await page.locator('.rail').getByRole('button', { name: 'Import' }).click();
	await d.button('From a path of the server').click();
	await d.label('Path on the server').fill('/nonexistent/trace.json');
	d.expect(404);
	await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
	await page.getByRole('dialog').getByRole('alert').waitFor();
	await d.label('Path on the server').fill(d.values.other);
	await d.label('Name of the result').fill('fetched');
	await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
	await page.waitForURL(/\/r\/alpha\/fetched\//);

	d.step('nothing is typed before the notes have been read, which would replace it');
	const notes = await d.hold(/\/results\/sent$/);

	await d.menu('sent', 'Notes…');
	await notes.isGiven;
	assert.ok(!await d.label('What there is to say about it').isEditable());
	notes.letGo();
	await d.label('What there is to say about it').fill('fast\n<b>but</b> odd');
	await d.button('Save').click();
	await d.row('sent').getByTitle('There are notes').waitFor();
	await d.row('sent').locator('a').click();
	await d.tab('Analysis Configuration').click();
	await d.sees('<b>but</b> odd');

	d.step('rename and move');
	await d.button('sent ▾').click();
	await page.getByRole('menuitem', { name: 'Rename or move…' }).click();
	await d.label('Name').fill('moved');
	await d.label('Project').selectOption('beta');
	await d.button('Rename', true).click();
	await page.waitForURL(/\/r\/beta\/moved\//);
	await d.row('moved').waitFor();

	d.step('download');
	const download = page.waitForEvent('download');

	await d.menu('moved', 'Download');
	assert.equal((await download).suggestedFilename(), 'moved.tar');
	await d.tab('Analysis Configuration').click();
	const file = page.waitForEvent('download');

	await page.getByRole('link', { name: path.basename(d.values.trace) }).click();
	assert.equal((await file).suggestedFilename(), path.basename(d.values.trace));

	d.step('compare');
	await d.menu('moved', 'Compare with…');
	await d.label('R1: before').selectOption({ label: await page.locator('option', { hasText: 'fetched' }).first().textContent() });
	await d.button('Compare', true).click();
	await page.waitForURL(/\/compare\/beta\/moved\/alpha\/fetched\//);
	await d.tab('Compare').waitFor();
	assert.equal(await d.tab('Compare').getAttribute('aria-selected'), 'true');
	await page.getByRole('gridcell', { name: 'inner' }).first().waitFor();
	await d.pressed('After');
	await d.button('Before', true).click();
	await page.waitForURL(/side=before/);
	await d.pressed('Before'); // of the page that was loaded for it
	await page.getByRole('gridcell', { name: 'inner' }).first().waitFor();

	d.step('back is back: to the other run, then to where one came from');
	await page.goBack();
	await d.pressed('After');
	await page.getByRole('gridcell', { name: 'inner' }).first().waitFor();
	await page.goBack();
	await page.waitForURL(/\/r\/beta\/moved\//);
	await d.tab('Summary').waitFor(); // a question about a result that goes is a complaint of the browser

	d.step('delete with undo, the trash, and really');
	await d.menu('moved', 'Delete');
	await d.undo('moved').waitFor();
	await d.row('moved').waitFor({ state: 'detached' });
	await d.button('Trash').click();
	await d.button('Restore moved').click();
	await d.sees('It is empty.');
	await page.keyboard.press('Escape');
	await page.getByRole('dialog').waitFor({ state: 'detached' });
	await d.row('moved').waitFor();
	await d.row('moved').locator('a').click();
	await d.tab('Summary').waitFor();
	await page.getByRole('tree').focus();
	await page.keyboard.press('End');
	await page.keyboard.press('Delete');
	await d.undo('moved').waitFor();
	await d.button('Trash').click();
	await d.button('Empty the trash').waitFor();

	d.step('a dialog that the browser closes by itself can be opened again');
	await page.evaluate(() => document.querySelector('dialog').close());
	await page.getByRole('dialog').waitFor({ state: 'detached' });
	await d.button('Trash').click();

	d.step('the trash follows what others do, and what was agreed to is what is removed');
	await d.button('Empty the trash').click();
	await d.button(/Really remove all/).waitFor();
	await d.elsewhere('DELETE', 'projects/alpha/results/other');
	await d.button('Restore other').waitFor();
	await d.button('Empty the trash').click();
	await d.button(/Really remove all/).click();
	await d.sees('It is empty.');
	await d.elsewhere('DELETE', 'projects/alpha/results/run');
	await d.button('Restore run').waitFor();
	await d.elsewhere('DELETE', 'trash');
	await d.sees('It is empty.');
	await page.keyboard.press('Escape');

	d.step('a result that is gone says so');
	await page.goto(`${d.values.origin}/r/alpha/never/`);
	await d.sees('There is no result “never”');
	return {};
}

/* A thousand results: from the click that logs in until they can be used. */
async function many(d) {
	const { page } = d;

	await page.locator('.rail').waitFor();
	await page.getByRole('link', { name: 'Settings' }).click();
	await setPassphrase(d, PASSPHRASE);
	await d.sees('The passphrase is set');
	d.expect(401, 401, 401, 401, 401, 401); // who logs out while the tree is being asked for is refused it
	await d.button('Log out').first().click();
	await page.goto(`${d.values.origin}/`);
	await d.label('Passphrase').fill(PASSPHRASE);
	d.step('logging in');
	// digests of passphrases are made to be slow: what is ours begins when that is done
	const answered = page.waitForResponse(/\/login$/);

	await d.button('Log in').click();
	await answered;
	const start = Date.now();

	await page.getByPlaceholder('Filter 1\u202f000 results').waitFor();
	await page.locator('.rrow').first().waitFor();
	const took = Date.now() - start;
	const seen = await page.locator('[role=treeitem]').count();

	assert.ok(seen < 60, `${seen} rows of the tree are in the page`);
	d.step('walking');
	await page.getByRole('tree').focus();
	await page.keyboard.press('End');
	await d.row('r0').last().waitFor();
	await page.getByLabel('Filter results').fill('r0777');
	await d.row('r0777').waitFor();
	assert.equal(await page.locator('.rrow').count(), 1);
	await page.getByLabel('Filter All results').fill('r0778');
	await page.getByRole('gridcell', { name: 'r0778' }).waitFor();
	return { took };
}

/* Names, notes, output and traces that want to be more than text. */
async function hostile(d) {
	const { page } = d;

	for (const name of d.values.projects) {
		d.step(`the project ${name}`);
		await page.locator('.prow', { hasText: name.slice(0, 12) }).first().waitFor();
	}
	for (const [project, result] of d.values.results) {
		d.step(`the result ${result}`);
		await page.goto(`${d.values.origin}/r/${encodeURIComponent(project)}/${encodeURIComponent(result)}/`);
		await d.tab('Summary').waitFor();
		for (const tab of ['Analysis Configuration', 'Collection Log', 'Timeline', 'Summary'])
			await d.tab(tab).click();
		await page.getByRole('button', { name: result.slice(0, 12) }).filter({ hasNotText: 'unitrace ' }).last().click();
		await page.getByRole('menuitem', { name: 'Compare with…' }).click();
		await page.getByRole('dialog').waitFor();
		await page.keyboard.press('Escape');
	}
	await page.goto(`${d.values.origin}/configure`);
	await d.label('Application').fill('<img src=x onerror=alert(1)>');
	await d.label('Application parameters').fill('"</code><script>alert(2)</script>" \'$(touch hacked)\' ; `id`');
	await d.lineHas('touch hacked');
	assert.equal(await page.evaluate(() => window.hacked), undefined);
	assert.equal(await page.locator('img, iframe, object, embed').count(), 0);
}

async function accessible(d) {
	const { page } = d;
	const pages = [`${d.values.origin}/`, `${d.values.origin}/configure`, `${d.values.origin}/settings`, ...d.values.results];

	await page.locator('.rail').waitFor();
	for (const theme of ['', 'dark', 'contrast']) { // light is what the system asks for here
		await page.evaluate(t => localStorage.setItem('unitrace.theme', t), theme);
		for (const address of pages) {
			await page.goto(address);
			d.step(`${theme} ${address}`);
			await page.locator('#main:not([aria-busy=true])').waitFor();
			await axe(d, theme !== '');
		}
	}
	await page.evaluate(() => localStorage.removeItem('unitrace.theme'));

	d.step('dialogs');
	await page.goto(`${d.values.origin}/`);
	for (const open of ['New Project…', 'Import…', 'Compare Results…']) {
		await d.button(open).click();
		await page.getByRole('dialog').waitFor();
		await axe(d);
		await page.keyboard.press('Escape');
		await page.getByRole('dialog').waitFor({ state: 'detached' });
		await page.waitForFunction(t => document.activeElement.textContent === t, open); // the focus comes back
	}
	await d.button('Trash').click();
	await axe(d);
	await page.keyboard.press('Escape');

	d.step('another machine');
	await page.goto(`${d.values.origin}/configure`);
	await page.getByRole('radio', { name: /a machine/ }).check();
	await d.button('Test connection').waitFor();
	await axe(d);
	for (const open of ['Add a machine…', 'Edit…']) {
		await d.button(open).click();
		await page.getByRole('dialog').waitFor();
		await axe(d);
		await page.keyboard.press('Escape');
		await page.getByRole('dialog').waitFor({ state: 'detached' });
	}

	d.step('a narrow screen shows everything, and nothing sticks out');
	await page.setViewportSize({ width: 420, height: 800 });
	for (const address of pages) {
		await page.goto(address);
		d.step(`420 px ${address}`);
		await page.locator('#main:not([aria-busy=true])').waitFor();
		await d.settled();
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth &&
			document.querySelector('#main').scrollWidth <= innerWidth), 'it is wider than the screen');
		await axe(d);
	}
	await d.button('Projects', true).click();
	await d.page.locator('.rail.over').waitFor();
	await axe(d);
	await d.button('Hide projects').click();
	await page.setViewportSize({ width: 1440, height: 900 });

	d.step('the tree by keyboard');
	await page.goto(`${d.values.origin}/`);
	await page.locator('.rrow').first().waitFor();
	await page.getByRole('tree').focus();
	await page.keyboard.press('ArrowDown');
	assert.match(await page.getByRole('tree').getAttribute('aria-activedescendant'), /^row-r\//);
	await page.keyboard.press('ArrowLeft');
	assert.match(await page.getByRole('tree').getAttribute('aria-activedescendant'), /^row-p\//);
	await page.keyboard.press('ArrowLeft');
	await page.locator('.rrow').first().waitFor({ state: 'detached' });
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('F2');
	await page.getByRole('dialog').waitFor();
	await page.keyboard.press('Escape');
	await page.getByRole('tree').focus();
	await page.keyboard.press('Shift+F10');
	await page.getByRole('menuitem').first().waitFor();
	await page.keyboard.press('Escape');
	await page.getByRole('tree').focus();
	await page.keyboard.press('Enter');
	await page.waitForURL(/\/r\//);
}

/* Help where one stands. */
async function help(d) {
	const { page } = d;

	for (const address of ['', 'configure', 'settings']) {
		await page.goto(`${d.values.origin}/${address}`);
		await page.locator('.panel').first().waitFor();
		const panels = await page.locator('.panel').count();
		const marks = page.getByRole('button', { name: /^Help: / });

		d.step(`help of /${address}`);
		assert.ok(await marks.count() >= panels, 'every panel has a question mark');
		for (let i = 0; i < await marks.count(); i++) {
			await marks.nth(i).click();
			await page.locator('.helptext:not([hidden])').waitFor();
			assert.ok((await page.locator('.helptext:not([hidden])').textContent()).length > 30);
			await page.keyboard.press('Escape');
			await page.locator('.helptext:not([hidden])').waitFor({ state: 'detached' });
		}
	}
	d.step('the tour');
	await page.goto(`${d.values.origin}/`);
	await d.button('Take the tour (1 min)').click();
	let words = 0;

	for (let i = 1; i <= 6; i++) {
		await d.sees(`${i} of 6`);
		words += (await page.locator('#tour-text').textContent()).split(/\s+/).length;
		await page.waitForFunction(() => document.querySelectorAll('.lit').length === 1);
		if (i === 3) {
			await d.button('Back').click();
			await d.sees('2 of 6');
			await d.button('Next').click();
		}
		await d.button(i < 6 ? 'Next' : 'Done').click();
	}
	assert.ok(words < 250, `${words} words are read in a minute`);
	await page.waitForFunction(() => !document.querySelector('.lit'));
	await page.reload();
	await d.button('Tour', true).first().waitFor();

	d.step('colours');
	for (const theme of ['dark', 'light', 'contrast']) {
		await d.button(/^Colours/).click();
		await page.waitForFunction(t => document.documentElement.dataset.theme === t, theme);
	}
	await page.reload();
	await page.waitForFunction(() => document.documentElement.dataset.theme === 'contrast');
}

module.exports = { entry, reloaded, remote, project, many, hostile, accessible, help };
