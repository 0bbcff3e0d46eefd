// bench.tsx - the page of `unitrace serve`.
import { render } from 'preact';
import './style.css';

render(<p>unitrace</p>, document.getElementById('page')!);
