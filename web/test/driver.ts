// driver.ts - as much of playwright's types as the tests use: it is not there when types are checked
// on a machine without it. And how long tests wait.

/* ms; every wait is for a condition, and only a fault makes it last this long. */
export const PATIENCE = 150_000 * (Number(process.env.UNITRACE_PATIENCE) || 1);

export interface Locator {
	click(o?: object): Promise<void>;
	dblclick(o?: object): Promise<void>;
	fill(text: string): Promise<void>;
	press(key: string): Promise<void>;
	textContent(): Promise<string | null>;
	allTextContents(): Promise<string[]>;
	getAttribute(name: string): Promise<string | null>;
	count(): Promise<number>;
	first(): Locator;
	nth(n: number): Locator;
	isVisible(): Promise<boolean>;
	focus(): Promise<void>;
	hover(): Promise<void>;
	boundingBox(): Promise<{ x: number; y: number; width: number; height: number } | null>;
	selectOption(value: string): Promise<string[]>;
	waitFor(o?: object): Promise<void>;
	inputValue(): Promise<string>;
	locator(selector: string): Locator;
	filter(o: object): Locator;
}

export interface Page {
	goto(url: string): Promise<unknown>;
	reload(): Promise<unknown>;
	goBack(): Promise<unknown>;
	url(): string;
	locator(selector: string): Locator;
	getByRole(role: string, o?: object): Locator;
	keyboard: {
		press(key: string): Promise<void>;
		down(key: string): Promise<void>;
		up(key: string): Promise<void>;
		type(text: string): Promise<void>;
	};
	mouse: {
		move(x: number, y: number, o?: object): Promise<void>;
		down(): Promise<void>;
		up(): Promise<void>;
		click(x: number, y: number): Promise<void>;
		dblclick(x: number, y: number): Promise<void>;
		wheel(x: number, y: number): Promise<void>;
	};
	evaluate<T, A = undefined>(f: string | ((a: A) => T | Promise<T>), a?: A): Promise<T>;
	addInitScript(f: () => void): Promise<void>;
	setDefaultTimeout(ms: number): void;
	screenshot(o: object): Promise<unknown>;
	setViewportSize(s: { width: number; height: number }): Promise<void>;
	emulateMedia(o: object): Promise<void>;
	on(
		event: string,
		f: (e: {
			type(): string;
			text(): string;
			url(): string;
			message: string;
			suggestedFilename(): string;
			path(): Promise<string>;
		}) => void,
	): void;
	addScriptTag(o: object): Promise<unknown>;
	removeAllListeners(): void;
	close(): Promise<void>;
	context(): { newCDPSession(p: Page): Promise<{ send(method: string, ask: object): Promise<unknown> }> };
}

export interface Browser {
	newPage(o?: object): Promise<Page>;
	close(): Promise<void>;
}
