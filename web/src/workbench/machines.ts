// machines.ts - other machines that programs can be run on, and what is known of them.

import { signal } from '@preact/signals';
import { call, path, type Devices } from './api';
import { server } from './store';

/* As it told them. */
export interface FoundDevices extends Devices {
	asked: number; // s since 1970
}

export interface Machine {
	name: string;
	host: string;
	port?: number | null;
	user: string;
	login: 'key' | 'password';
	identity: string; // the file of a key, on the server
	folder: string; // there, for our files
	key?: string; // fingerprint of the one that was accepted; '': none was
	devices?: FoundDevices; // missing: it has not been asked yet
}

export interface Tested {
	state: 'ready' | 'unknown-key' | 'changed-key' | 'refused' | 'unreachable' | 'unsuitable';
	text: string;
	fingerprint?: string; // of the key that it shows
	accepted?: string;
	version?: string;
	host?: string;
	folder?: string;
	cores?: number;
	copied?: number; // bytes
	devices?: FoundDevices;
}

export const machines = signal<Machine[] | null>(null);
export const tests = signal<Record<string, Tested | 'busy'>>({});

/* In this page's memory alone, until it is closed: nothing writes them down. */
export const passwords = signal<Record<string, string>>({});

export const NEW: Machine = { name: '', host: '', user: '', login: 'key', identity: '', folder: '' };

export const machineOf = (target: string | undefined): Machine | undefined =>
	machines.value?.find(m => m.name === target);

/* What goes with a request to a machine. */
export const secretFor = (target: string | undefined): { password?: string } =>
	target && passwords.peek()[target] ? { password: passwords.peek()[target] } : {};

export async function loadMachines(): Promise<void> {
	machines.value = server.peek()?.profiling ? await call<Machine[]>('GET', 'machines') : [];
}

const forget = (name: string): void => {
	const { [name]: _, ...rest } = tests.peek();

	tests.value = rest;
};

export async function saveMachine(m: Machine, isNew: boolean): Promise<void> {
	const { key: _, devices: __, ...body } = m;

	await call(isNew ? 'POST' : 'PUT', isNew ? 'machines' : `machines/${path(m.name)}`, body);
	forget(m.name);
	await loadMachines();
}

export async function dropMachine(name: string): Promise<void> {
	await call('DELETE', `machines/${path(name)}`);
	forget(name);
	await loadMachines();
}

function setDevices(name: string, devices: FoundDevices): void {
	machines.value = machines.peek()?.map(m => (m.name === name ? { ...m, devices } : m)) ?? null;
}

export async function lookForDevices(name: string): Promise<void> {
	setDevices(name, await call<FoundDevices>('POST', `machines/${path(name)}/devices`, secretFor(name)));
}

export async function testMachine(name: string): Promise<void> {
	tests.value = { ...tests.peek(), [name]: 'busy' };
	try {
		const got = await call<Tested>('POST', `machines/${path(name)}/test`, secretFor(name));

		tests.value = { ...tests.peek(), [name]: got };
		if (got.devices) setDevices(name, got.devices);
	} catch (e) {
		forget(name);
		throw e;
	}
}

/* The key that was shown, and no other; then everything is tried again. */
export async function acceptKey(name: string, fingerprint: string): Promise<void> {
	await call('PUT', `machines/${path(name)}/key`, { fingerprint });
	await loadMachines();
	await testMachine(name);
}

export async function forgetKey(name: string): Promise<void> {
	await call('DELETE', `machines/${path(name)}/key`);
	await loadMachines();
	await testMachine(name);
}

/* user@host:port, as far as it is said. */
export const addressOf = (m: Machine): string =>
	`${m.user ? `${m.user}@` : ''}${m.host}${m.port ? `:${m.port}` : ''}`;
