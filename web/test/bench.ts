import type { Browser } from './driver';
export async function bench(_b: Browser, _out: string): Promise<void> {}
