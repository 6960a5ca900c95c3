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
    if (old?.nodeName !== node.nodeName) old ? old.replaceWith(node) : now.append(node);
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
  if (!next.querySelector('dialog')) part.querySelector('dialog')?.close('over');
  update(part, next);
  for (const field of fieldsIn(part)) {
    const value = entered.get(field.name);
    const isChoice = field.options && ![...field.options].some((option) => option.value === value);
    if (value !== undefined && field.value !== value && !isChoice) field.value = value;
  }
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

async function pageAt(url) {
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => undefined);
  return answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined;
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

/** A form that was sent is not sent again before there is an answer. */
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.getAttribute('method') !== 'post') return;
  if (form.ariaBusy === 'true') return event.preventDefault();
  form.ariaBusy = 'true';
  const button = event.submitter ?? form.querySelector('[type="submit"]');
  button.ariaDisabled = 'true';
  button.classList.add('running');
  button.dataset.label = button.textContent;
  button.textContent = button.dataset.pending ?? button.textContent;
  const note = Object.assign(document.createElement('p'), { className: 'tag running pending' });
  note.textContent = button.textContent;
  document.querySelector('[data-answer]')?.prepend(note);
});

/** No answer will come after Stop, and to a page that the browser shows again. */
function release() {
  for (const form of document.querySelectorAll('[aria-busy="true"]')) {
    form.removeAttribute('aria-busy');
    for (const button of form.querySelectorAll('[data-label]')) {
      button.ariaDisabled = null;
      button.classList.remove('running');
      button.textContent = button.dataset.label;
    }
  }
  for (const note of document.querySelectorAll('.pending')) note.remove();
}
addEventListener('pageshow', ({ persisted }) => persisted && release());
addEventListener('keydown', ({ key }) => key === 'Escape' && release());

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
