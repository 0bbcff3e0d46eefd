export function watch(): void;
