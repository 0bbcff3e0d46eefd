// search.tsx - the box at the top: count, position, list; Enter walks, "=" at the start is SQL.

import { useState } from 'preact/hooks';
import type { App } from '../state/app';
import { count, time } from '../text/format';
import { Name } from './kit';

export function Search({ app }: { app: App }) {
	const hits = app.hits.value,
		[open, setOpen] = useState(false);
	const keys = (e: KeyboardEvent) => {
		const input = e.currentTarget as HTMLInputElement;

		if (e.key === 'Enter') {
			e.preventDefault();
			if (input.value.startsWith('=')) app.tab.value = 'sql';
			else app.nextHit(e.shiftKey ? -1 : 1);
		} else if (e.key === 'Escape') {
			app.search('');
			setOpen(false);
			input.blur();
		}
	};
	const say = hits.error
		? 'error'
		: hits.busy
			? '…'
			: hits.nth
				? `${count(hits.nth)} / ${count(hits.count)}`
				: count(hits.count);

	return (
		<div
			class="search"
			role="search"
			onFocusOut={e => {
				if (!e.currentTarget.contains(e.relatedTarget as Node)) setOpen(false);
			}}>
			<svg
				width="14"
				height="14"
				viewBox="0 0 14 14"
				fill="none"
				stroke="currentColor"
				stroke-width="1.6"
				aria-hidden="true">
				<circle cx="6" cy="6" r="4.2" />
				<path d="m9.2 9.2 3.6 3.6" />
			</svg>
			<input
				id="search"
				type="text"
				autocomplete="off"
				spellcheck={false}
				aria-label="Search names, arguments, tracks"
				placeholder="Search (/)"
				value={hits.query}
				aria-invalid={!!hits.error}
				aria-describedby="hits"
				onFocus={() => setOpen(true)}
				onInput={e => {
					app.search(e.currentTarget.value);
					setOpen(true);
				}}
				onKeyDown={keys}
			/>
			<span class="hits" id="hits">
				{hits.query && (
					<>
						{app.info.value.thinned && !hits.error ? (
							<span class="iswarn" title="counted in the slices of this page">
								{say}
							</span>
						) : (
							say
						)}
						<button
							type="button"
							class="btn sm ghost"
							aria-label="Previous hit"
							onClick={() => app.nextHit(-1)}>
							↑
						</button>
						<button
							type="button"
							class="btn sm ghost"
							aria-label="Next hit"
							onClick={() => app.nextHit(1)}>
							↓
						</button>
					</>
				)}
			</span>
			{open && hits.query && (hits.error || hits.list.length > 0) && (
				<div class="hitlist">
					{hits.error ? (
						<p class="iswarn">{hits.error}</p>
					) : (
						<ul role="list">
							{hits.list.slice(0, 50).map(h => (
								<li key={h.id}>
									<button
										type="button"
										aria-current={h.id === app.selected.value}
										onClick={() => {
											app.tab.value = 'timeline';
											app.select(h.id, true);
											setOpen(false);
										}}>
										<Name text={h.name} brief />
										<span class="num muted">{time(h.t)}</span>
										<span class="num">{time(h.dur)}</span>
									</button>
								</li>
							))}
						</ul>
					)}
				</div>
			)}
		</div>
	);
}
