// Live parts, the overlay, forms that are sent once, sorting, copying, and the stake. The pages work without this script.

/** Attributes that a reader has changed. */
const readers = new Set(['open', 'aria-sort']);

/** Makes an element the same as another one and keeps all nodes that it can: focus, scroll positions and open details stay. */
function update(now, next) {
  for (const { name } of [...now.attributes]) {
    if (!next.hasAttribute(name) && !readers.has(name)) now.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  }
  const [before, after] = [[...now.childNodes], [...next.childNodes]];
  after.forEach((node, at) => {
    const old = before[at];
    const isSame = old?.nodeName === node.nodeName && old.name === node.name;
    if (!isSame) old ? old.replaceWith(node) : now.append(node);
    else if (node.nodeType === Node.ELEMENT_NODE) update(old, node);
    else if (old.data !== node.data) old.data = node.data;
  });
  for (const old of before.slice(after.length)) old.remove();
}

const fieldsIn = (part) => [...part.querySelectorAll('input, select, textarea')].filter(({ name }) => name);

/** Updates a part. What was entered in a field stays, as long as there is a field of that name. */
function renew(part, next) {
  const fields = fieldsIn(part).filter(({ type }) => type !== 'hidden');
  const isSent = part.querySelector('[aria-busy="true"]') !== null;
  if (isSent || (fields.length > 0 && fieldsIn(next).length === 0)) return;
  const entered = new Map(fields.map(({ name, value }) => [name, value]));
  const focused = document.activeElement;
  if (!next.querySelector('dialog')) part.querySelector('dialog')?.close('over');
  update(part, next);
  for (const field of fieldsIn(part)) {
    const value = entered.get(field.name);
    const isChoice = field.options && ![...field.options].some((option) => option.value === value);
    if (value !== undefined && field.value !== value && !isChoice) field.value = value;
  }
  if (!focused.isConnected)
    fieldsIn(part)
      .find(({ name }) => name === focused.name)
      ?.focus();
  for (const head of part.querySelectorAll('th[aria-sort]')) sort(head);
  showOverlay();
}

/** The parts to update, by id. Several changes at a time cause one request. */
const due = new Set();
let isUpdating = false;
function mark(isConcerned) {
  for (const part of document.querySelectorAll('[data-live]')) if (isConcerned(part)) due.add(part.id);
  if (isUpdating || due.size === 0) return;
  isUpdating = true;
  setTimeout(async () => {
    const parts = [...due].flatMap((id) => document.getElementById(id) ?? []);
    due.clear();
    const pages = new Map();
    for (const { dataset } of parts) pages.set(dataset.live, pages.get(dataset.live) ?? pageAt(dataset.live));
    for (const part of parts) {
      const next = (await pages.get(part.dataset.live))?.getElementById(part.id);
      if (next) renew(part, next);
    }
    isUpdating = false;
    mark(() => false);
  }, 150);
}

/** The page at a URL, or the one that says what failed; undefined if there is no answer. */
async function pageAt(url, init = {}) {
  try {
    const answer = await fetch(url, { ...init, headers: { accept: 'text/html' } });
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  } catch {
    return undefined;
  }
}

/** Only a visible page is connected: a browser keeps at most six connections to a server. */
let events;
function connect() {
  const offline = document.getElementById('offline');
  if (document.hidden) events = events?.close();
  if (document.hidden || events || !offline) return;
  events = new EventSource('/events');
  events.addEventListener('change', ({ data }) =>
    mark((part) => part.dataset.topic.split(' ').includes(data)),
  );
  events.addEventListener('error', () => {
    offline.hidden = false;
  });
  // Updates what changed before this connection was open.
  events.addEventListener('open', () => {
    offline.hidden = true;
    mark(() => true);
  });
}
document.addEventListener('visibilitychange', connect);
connect();

/** Shows why the server is down, unless the reader has dismissed that. */
function showOverlay() {
  const dialog = document.querySelector('#state dialog');
  if (!dialog) sessionStorage.removeItem('dismissed');
  else if (!dialog.open && dialog.matches('.down') && sessionStorage.dismissed !== dialog.textContent) {
    dialog.showModal();
  }
}
showOverlay();
document.addEventListener(
  'close',
  ({ target }) => {
    if (target.returnValue !== 'over') sessionStorage.dismissed = target.textContent;
  },
  true,
);

/** A form that names the part for its answer shows that it is sent, and is not sent again before there is an answer. */
document.addEventListener('submit', async (event) => {
  const form = event.target;
  const part = document.getElementById(form.dataset.answer);
  if (!part) return;
  event.preventDefault();
  if (form.ariaBusy === 'true') return;
  const button = form.querySelector('[type="submit"]');
  const label = button.textContent;
  const setSent = (isSent) => {
    form.ariaBusy = String(isSent);
    button.ariaDisabled = String(isSent);
    button.classList.toggle('running', isSent);
    button.textContent = isSent ? button.dataset.pending : label;
  };
  setSent(true);
  const note = Object.assign(document.createElement('p'), { className: 'panel empty soft' });
  note.textContent = button.dataset.pending;
  part.replaceChildren(note);
  note.scrollIntoView({ block: 'nearest' });
  const body = new URLSearchParams(new FormData(form));
  const page = await pageAt(form.getAttribute('action'), { method: 'POST', body });
  setSent(false);
  const answer = page?.getElementById(part.id) ?? page?.querySelector('main > .notice');
  if (answer?.id === part.id) update(part, answer);
  else if (answer) part.replaceChildren(answer);
  else if (page) location.reload();
  else note.textContent = 'The marketplace did not answer.';
});

document.addEventListener('click', async ({ target }) => {
  const copy = target.closest?.('[data-copy]');
  if (copy) {
    const text = document.getElementById(copy.dataset.copy)?.textContent ?? '';
    const before = copy.textContent;
    await navigator.clipboard.writeText(text).then(
      () => {
        copy.textContent = 'Copied';
      },
      () => {
        copy.textContent = 'Not copied';
      },
    );
    setTimeout(() => {
      copy.textContent = before;
    }, 1500);
    return;
  }
  const head = target.closest?.('th button')?.closest('th');
  if (!head) return;
  const direction = head.getAttribute('aria-sort') === 'ascending' ? 'descending' : 'ascending';
  for (const other of head.parentElement.children) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', direction);
  sort(head);
});

/** Sorts the rows of a table by the column of this head: by number if all cells are numbers, else by text. */
function sort(head) {
  const table = head.closest('table');
  const index = [...head.parentElement.children].indexOf(head);
  const descending = head.getAttribute('aria-sort') === 'descending';
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, text: row.cells[index]?.textContent.trim() ?? '' }));
  const numeric = rows.every(({ text }) => text === '' || !Number.isNaN(Number.parseFloat(text)));
  rows.sort((a, b) =>
    numeric
      ? (Number.parseFloat(a.text) || 0) - (Number.parseFloat(b.text) || 0)
      : a.text.localeCompare(b.text, 'en', { numeric: true }),
  );
  if (descending) rows.reverse();
  body.append(...rows.map(({ row }) => row));
}

const price = document.querySelector('[data-stake-minimum]');
price?.addEventListener('input', () => {
  const { stakeMinimum, stakeUnit } = price.dataset;
  const dollars = Number(price.value);
  const stake = Math.max(Number(stakeMinimum), Number.isFinite(dollars) ? Number(stakeUnit) * dollars : 0);
  document.getElementById('stake').textContent = String(Math.round(stake * 100) / 100);
});

document.addEventListener('change', ({ target }) => {
  if (target.matches('select[data-go]')) target.form.submit();
});
