// css.d.ts - a style sheet is imported for its effect alone.
declare module '*.css';
