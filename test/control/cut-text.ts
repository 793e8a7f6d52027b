/** Text that the screen does not show whole; runs in the page, so it is a string. */

/**
 * Evaluates to a list of faults, each a line: what reaches beyond the screen, and what is cut off by its box. Rows that
 * scroll sideways, the lines of an editor, and fields, which scroll with the cursor, are left out.
 */
export const CUT_TEXT = `(() => {
  const faults = [];
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('input, .cm-editor, .visually-hidden, .skip, .table thead, nav ul, .tabs') || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const tell = (fault) => faults.push(fault + ': ' + element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 60));
    const { width, right } = element.getBoundingClientRect();
    if (width > 0 && right > innerWidth + 1) tell('it reaches beyond the screen by ' + Math.round(right - innerWidth));
    const hides = (overflow) => overflow === 'hidden' || overflow === 'clip';
    if (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1) tell('its end is cut off');
    if (hides(style.overflowY) && element.scrollHeight > element.clientHeight + 2) tell('its last lines are cut off');
  }
  return faults;
})()`;
