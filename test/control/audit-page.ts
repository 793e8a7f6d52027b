/** What can be told of a page's accessibility by its DOM (WCAG 2.2, AA); runs in the page, so it is a string. */

/** Evaluates to a list of faults, each a line. `program`: whose name ends the title. */
export const auditPage = (program: string): string => `(() => {
  const faults = [];
  const visible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const nameOf = (element) => {
    const labelled = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join('');
    const labels = [...(element.labels ?? [])].map((label) => label.textContent).join('');
    return (labelled || element.getAttribute('aria-label') || labels || element.textContent || element.getAttribute('title') || '').trim();
  };
  const tell = (element, fault) => faults.push(fault + ': ' + element.outerHTML.slice(0, 120));

  if (document.documentElement.lang !== 'en') faults.push('the page has no language');
  if (!/\\S · ${program}$/.test(document.title)) faults.push('the page has no title: ' + document.title);
  for (const one of ['main', 'h1']) {
    const count = document.querySelectorAll(one).length;
    if (count !== 1) faults.push('the page has ' + count + ' ' + one);
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('an id comes twice: ' + id);
  for (const control of document.querySelectorAll('button, a[href], input, select, textarea, [role=textbox], dialog, nav, section, aside')) {
    if (visible(control) && nameOf(control) === '') tell(control, 'it has no name');
  }
  for (const table of document.querySelectorAll('table')) {
    if (!table.caption) tell(table, 'it has no caption');
    for (const cell of table.querySelectorAll('th')) if (cell.scope === '' || cell.textContent.trim() === '') tell(cell, 'it heads nothing');
  }
  let level = 0;
  for (const heading of document.querySelectorAll('h1, h2, h3')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) tell(heading, 'it skips a level');
    level = next;
  }
  for (const element of document.querySelectorAll('[tabindex]')) if (element.tabIndex > 0) tell(element, 'its tabindex is above 0');

  const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const backgroundOf = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const luminance = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (texts.currentNode.textContent.trim() === '' || element.closest('.visually-hidden, noscript, style') || !visible(element)) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const background = backgroundOf(element);
    const ratio = contrast(over(rgba(style.color), background), background);
    if (ratio < least) tell(element, 'its contrast is ' + ratio.toFixed(2));
  }
  for (const control of document.querySelectorAll('.button:not(.primary, .danger), input:not([type=checkbox], [type=file]), select')) {
    if (!visible(control)) continue;
    const ratio = contrast(rgba(getComputedStyle(control).borderTopColor), backgroundOf(control.parentElement));
    if (ratio < 3) tell(control, 'the contrast of its border is ' + ratio.toFixed(2));
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('it is wider than the screen by ' + (document.documentElement.scrollWidth - innerWidth));
  return faults;
})()`;

export const AUDIT_PAGE = auditPage('gw console');
