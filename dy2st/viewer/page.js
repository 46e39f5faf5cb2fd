"use strict";
/* Draws a Program as rows in order, with its values as edges beside them. Only the rows that can be
   seen are in the page; texts come from the data and are set as text, never as HTML. */

const data = JSON.parse(document.getElementById("data").textContent);
const KINDS = ["inputs", "layer", "operator", "block", "end"];
const MARKS = {"-": "removed", "+": "added", "~": "changed"};
const HEIGHT = 30, STEP = 16, LANE = 9, MOST_LANES = 12, AROUND = 12, AT_FIRST = 90;
const byId = (id) => document.getElementById(id);
const graph = byId("graph"), space = byId("space"), rows = byId("rows"), edges = byId("edges");

let program, nodes, shown = [], rowOf = [], lines = [], gutter = 0;
let chosen = null, matches = [], at = -1, matched = new Set(), level = 1;

/* -- the tree ----------------------------------------------------------------------------- */

function read(source) {
  const text = (index) => source.strings[index];
  const pairs = (list) => {
    const found = [];
    for (let i = 0; i < list.length; i += 2) { found.push([text(list[i]), text(list[i + 1])]); }
    return found;
  };
  program = source;
  nodes = source.nodes.map((entry, id) => {
    const [parent, kind, label, mark, place, results, operands, attributes, was, tag, seconds, family] = entry;
    const read = [];
    for (let i = 0; i < operands.length; i += 2) {
      read.push(operands[i] < 0 ? {text: text(operands[i + 1])} : {node: operands[i], place: operands[i + 1]});
    }
    return {
      id, parent, kind: KINDS[kind], label: text(label), mark: MARKS[mark] || "", place: source.places[place],
      results: pairs(results), operands: read, attributes: pairs(attributes), was: text(was), tag: text(tag),
      seconds, family: text(family), children: [], users: [], open: false, depth: 0, count: 0, differs: false, marks: {removed: 0, added: 0, changed: 0},
    };
  });
  for (const node of nodes) {
    const parent = nodes[node.parent];
    node.depth = parent ? parent.depth + 1 : 0;
    if (parent) { parent.children.push(node); }
    for (const one of node.operands) { if (one.node !== undefined) { nodes[one.node].users.push(node.id); } }
  }
  for (let i = nodes.length - 1; i >= 0; i--) {  // what is inside comes after
    const node = nodes[i], parent = nodes[node.parent];
    const isOperator = node.kind === "operator";
    node.count += isOperator ? 1 : 0;
    if (isOperator && node.mark) { node.marks[node.mark]++; }
    node.differs = node.differs || node.mark !== "";
    if (parent) {
      parent.count += node.count;
      parent.seconds += node.seconds;
      parent.differs = parent.differs || node.differs;
      for (const mark in node.marks) { parent.marks[mark] += node.marks[mark]; }
    }
  }
}

/* Opens as many levels as give no more rows than a person looks through. */
function openFirst() {
  const deepest = nodes.reduce((most, node) => Math.max(most, node.depth), 0);
  openTo(0);
  for (let tried = 1; tried <= deepest; tried++) {
    const size = nodes.filter((node) => node.depth <= tried).length;
    if (size > AT_FIRST) { break; }
    openTo(tried);
  }
}

function openTo(depth) {
  level = Math.min(depth, nodes.reduce((most, node) => Math.max(most, node.depth), 0));
  for (const node of nodes) { node.open = node.depth < depth; }
}

function isHidden(node) {
  return byId("changes").firstChild.checked && !node.differs;
}

/* The rows that are open, and for each node the row that shows it. */
function flatten() {
  shown = [];
  rowOf = new Int32Array(nodes.length).fill(-1);
  const todo = nodes.filter((node) => node.parent < 0).reverse();
  while (todo.length) {
    const node = todo.pop();
    if (isHidden(node)) { continue; }
    rowOf[node.id] = shown.length;
    shown.push(node);
    if (node.open) { for (let i = node.children.length - 1; i >= 0; i--) { todo.push(node.children[i]); } }
  }
  for (const node of nodes) {
    if (rowOf[node.id] < 0 && node.parent >= 0) { rowOf[node.id] = rowOf[node.parent]; }
  }
  space.style.height = shown.length * HEIGHT + 40 + "px";
}

/* -- edges -------------------------------------------------------------------------------- */

/* One line for each row that others read: down a lane from it to the last of them. */
function route() {
  const ends = new Map();
  for (const node of nodes) {
    const to = rowOf[node.id];
    for (const one of node.operands) {
      const from = one.node === undefined ? -1 : rowOf[one.node];
      if (from < 0 || to < 0 || from >= to) { continue; }
      if (!ends.has(from)) { ends.set(from, new Set()); }
      ends.get(from).add(to);
    }
  }
  lines = [];
  for (const [from, set] of ends) {
    const last = Math.max(...set), isNear = set.size === 1 && last === from + 1;
    lines.push({from, to: [...set].sort((a, b) => a - b), last, lane: isNear ? -1 : 0, back: false});
  }
  for (const node of shown) {  // the end of a loop's body goes back to its head
    const head = nodes[node.parent];
    if (node.kind === "end" && head && head.kind === "block" && head.results.length && head.label === "body") {
      lines.push({from: rowOf[head.id], to: [], last: rowOf[node.id], lane: 0, back: true});
    }
  }
  lines.sort((a, b) => a.from - b.from || a.last - b.last);
  const taken = [];
  for (const line of lines) {
    if (line.lane < 0) { continue; }
    line.lane = taken.findIndex((last) => last < line.from);
    if (line.lane < 0) { line.lane = taken.length; }
    taken[line.lane] = line.last;
  }
  gutter = (Math.min(taken.length, MOST_LANES) + 1) * LANE + 4;
}

const laneX = (lane) => gutter - (Math.min(lane, MOST_LANES) + 1) * LANE;
const boxX = (node) => gutter + 15 + node.depth * STEP;
const edgeX = (node) => boxX(node) - (node.children.length ? 13 : 0);  // the sign stays free
const middle = (row) => row * HEIGHT + HEIGHT / 2;

function pathOf(line) {
  const start = shown[line.from], parts = [], heads = [];
  if (line.lane < 0) {
    const end = shown[line.last], x = boxX(end) + 10, from = boxX(start) + 10;
    const top = middle(line.from) + 10, foot = middle(line.last) - 10;
    parts.push(from === x ? `M${x} ${top}V${foot}` : `M${from} ${top}C${from} ${foot} ${x} ${top} ${x} ${foot}`);
    heads.push(`M${x - 3} ${foot - 4}h6l-3 5z`);
    return [parts.join(""), heads.join("")];
  }
  const x = laneX(line.lane), top = middle(line.from) + (line.back ? -4 : 4);
  const foot = middle(line.last) + (line.back ? 4 : -4);
  parts.push(`M${edgeX(start)} ${top}H${x + 5}Q${x} ${top} ${x} ${top + 5}V${foot - 5}`);
  if (line.back) { heads.push(`M${edgeX(start) - 5} ${top - 3}v6l5 -3z`); }
  for (const to of line.back ? [line.last] : line.to) {
    const y = middle(to) + (line.back ? 4 : -4), end = edgeX(shown[to]);
    parts.push(`M${x} ${y - 5}Q${x} ${y} ${x + 5} ${y}H${end}`);
    if (!line.back) { heads.push(`M${end - 5} ${y - 3}v6l5 -3z`); }
  }
  return [parts.join(""), heads.join("")];
}

/* -- rows --------------------------------------------------------------------------------- */

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) { made.className = className; }
  if (text !== undefined) { made.textContent = text; }
  return made;
}

function svgPath(d, className) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "path");
  made.setAttribute("d", d);
  made.setAttribute("class", className);
  return made;
}

function colour(node) {
  if (node.kind !== "operator") { return "var(--kind-layer)"; }
  return `var(--kind-${node.children.length ? "control" : node.family})`;
}

function sourceText(place) {
  return place ? (program.lines[place[0]] || {})[place[1]] || "" : "";
}

function lastOperator(node) {
  while (node.kind === "layer") { node = node.children[node.children.length - 1]; }
  return node;
}

function typeText(node) {
  const of = node.kind === "layer" ? lastOperator(node) : node;
  return of.kind === "block" ? "" : of.results.map((entry) => entry[1]).join(", ");
}

function timeText(seconds) {
  if (seconds >= 1) { return seconds.toFixed(2) + " s"; }
  return seconds >= 1e-3 ? (seconds * 1e3).toFixed(2) + " ms" : (seconds * 1e6).toFixed(1) + " µs";
}

function hintOf(node) {
  const hint = element("span", "hint");
  if (node.tag) { hint.appendChild(element("b", "", node.tag + " ")); }
  const said = node.attributes.map(([name, text]) => `${name}=${text}`);
  const small = node.operands.filter((one) => one.text && one.text.length < 12).map((one) => one.text);
  if (node.kind === "layer") { said.push(node.count === 1 ? "1 operator" : node.count + " operators"); }
  if (node.kind === "inputs") { said.push(node.results.map((entry) => entry[0]).join(", ")); }
  if (node.kind === "block" && node.results.length) {
    said.push(node.results.map(([name, type]) => `${name}: ${type}`).join(", "));
  }
  hint.appendChild(document.createTextNode([...small, ...said].join("  ")));
  if (!node.mark && node.kind !== "operator") {
    for (const [sign, mark] of Object.entries(MARKS)) {
      if (node.marks[mark]) { hint.appendChild(element("span", "count " + mark, sign + node.marks[mark])); }
    }
  }
  return hint;
}

function rowFor(node, number, most) {
  const row = element("div", ["row", node.kind, node.mark].join(" "));
  row.style.top = number * HEIGHT + "px";
  row.dataset.id = node.id;
  if (matched.has(node.id) && !node.mark) { row.classList.add("match"); }
  if (node === chosen) { row.classList.add("chosen"); }
  const name = element("span", "name");
  const sign = element("span", "sign", node.children.length ? (node.open ? "▾" : "▸") : "");
  sign.style.marginLeft = boxX(node) - 15 + "px";
  const box = element("span", "box", node.label);
  box.style.setProperty("--colour", colour(node));
  name.append(sign, box, hintOf(node));
  row.append(name, element("span", "type", typeText(node)));
  if (program.seconds) {
    const time = element("span", "time", node.seconds ? timeText(node.seconds) : "");
    const bar = element("i");
    bar.style.width = Math.round(100 * node.seconds / most) + "px";
    time.appendChild(bar);
    row.appendChild(time);
  }
  const line = element("span", "line");
  if (node.place) {
    line.append(node.place.join(":") + "  ", element("code", "", sourceText(node.place).trim()));
  }
  row.appendChild(line);
  return row;
}

let isWaiting = false;
function draw() {
  if (isWaiting) { return; }
  isWaiting = true;
  requestAnimationFrame(() => { isWaiting = false; drawNow(); });
}

function drawNow() {
  const first = Math.max(0, Math.floor(graph.scrollTop / HEIGHT) - AROUND);
  const behind = Math.min(shown.length, first + Math.ceil(graph.clientHeight / HEIGHT) + 2 * AROUND);
  const most = program.seconds || 1, made = [], strong = [];
  for (let i = first; i < behind; i++) { made.push(rowFor(shown[i], i, most)); }
  rows.replaceChildren(...made);
  const paths = [], mine = chosen ? rowOf[chosen.id] : -1;
  for (const line of lines) {
    if (line.last < first || line.from >= behind) { continue; }
    const isMine = mine >= 0 && (line.from === mine || line.to.includes(mine));
    if (line.lane >= MOST_LANES && !isMine) { continue; }
    const [d, heads] = pathOf(line), name = (line.back ? "back" : "") + (isMine ? " strong" : "");
    (isMine ? strong : paths).push(svgPath(d, name), svgPath(heads, "head " + name));
  }
  edges.replaceChildren(...paths, ...strong);
}

function redraw() {
  flatten();
  route();
  drawNow();
}

/* -- choosing ----------------------------------------------------------------------------- */

function reveal(node) {
  for (let up = nodes[node.parent]; up; up = nodes[up.parent]) { up.open = true; }
  flatten();
  route();
}

function choose(node, scrolls) {
  chosen = node;
  if (scrolls) {
    if (shown[rowOf[node.id]] !== node) { reveal(node); }
    const top = rowOf[node.id] * HEIGHT;
    if (top < graph.scrollTop + HEIGHT || top > graph.scrollTop + graph.clientHeight - 3 * HEIGHT) {
      graph.scrollTop = top - graph.clientHeight / 3;
    }
  }
  drawNow();
  describe(node);
}

function toggle(node) {
  if (!node.children.length) { return; }
  node.open = !node.open;
  redraw();
}

function goTo(id) {
  look("graph");
  choose(nodes[id], true);
}

/* -- details ------------------------------------------------------------------------------ */

function pathTo(node) {
  const names = [];
  for (let one = node; one; one = nodes[one.parent]) {
    if (one.tag) { names.unshift(one.tag); }
    if (one.kind === "layer") { names.unshift(one.label); }
  }
  return names.join(".");
}

function linkTo(id, text) {
  const link = element("a", "", text);
  link.addEventListener("click", () => goTo(id));
  return link;
}

function table(into, title, entries) {
  if (!entries.length) { return; }
  into.appendChild(element("h3", "", title));
  const made = element("table");
  for (const entry of entries) {
    const row = element("tr");
    for (const cell of entry) {
      const td = element("td", "mono");
      td.append(cell);
      row.appendChild(td);
    }
    made.appendChild(row);
  }
  into.appendChild(made);
}

function describe(node) {
  const into = byId("details");
  into.replaceChildren(element("h2", "", node.kind === "layer" ? pathTo(node) : node.label));
  const meaning = node.kind === "operator" ? program.docs[node.label] : "";
  if (meaning) { into.appendChild(element("p", "pale", meaning)); }
  if (node.mark) {
    into.appendChild(element("p", "note " + node.mark, node.was || node.mark));
  }
  const path = pathTo(node), facts = [];
  if (path && node.kind !== "layer") { facts.push(["layer", path]); }
  if (node.kind !== "operator" && node.count) { facts.push(["operators", String(node.count)]); }
  if (node.seconds) {
    facts.push(["time", `${timeText(node.seconds)}, ${(100 * node.seconds / program.seconds).toFixed(1)} %`]);
  }
  table(into, "where", facts);
  if (node.place) { into.appendChild(sourceOf(node.place)); }
  const isLayer = node.kind === "layer";
  table(into, node.kind === "block" ? "loop variables" : "gives", isLayer ? lastOperator(node).results : node.results);
  table(into, "reads", (isLayer ? readBy(node) : node.operands).map((one) => {
    if (one.node === undefined) { return ["", one.text]; }
    const maker = nodes[one.node], [name, type] = maker.results[one.place] || ["?", ""];
    const cell = element("span");
    cell.append(linkTo(maker.id, maker.label), " " + type);
    return [name, cell];
  }));
  table(into, "attributes", node.attributes);
  table(into, "read by", [...new Set(node.users)].map((id) => {
    const user = nodes[id];
    return [user.results.map((entry) => entry[0]).join(", "), linkTo(id, user.label)];
  }));
}

/* The colours of operators, and what they say. */
function legend() {
  return Object.entries(data.legend).map(([name, text]) => {
    const line = element("p", "pale"), box = element("span", "box", name);
    box.style.setProperty("--colour", `var(--kind-${name})`);
    line.append(box, " " + text);
    return line;
  });
}

/* What a layer reads from outside, each value once. */
function readBy(layer) {
  const inside = new Set([layer.id]), found = new Map();
  for (let id = layer.id + 1; id < nodes.length && inside.has(nodes[id].parent); id++) {
    inside.add(id);
    for (const one of nodes[id].operands) {
      if (one.node === undefined ? one.text.includes(":") : !inside.has(one.node)) {
        found.set(one.text || one.node + " " + one.place, one);
      }
    }
  }
  return [...found.values()];
}

function sourceOf(place) {
  const [file, number] = place, known = program.lines[file] || {}, made = element("div");
  made.appendChild(element("p", "mono", `${file}:${number}`));
  const near = Object.keys(known).map(Number).filter((line) => Math.abs(line - number) <= 3).sort((a, b) => a - b);
  if (near.length) {
    const text = element("pre"), indents = near.filter((line) => known[line].trim());
    const indent = Math.min(...indents.map((line) => known[line].search(/\S/)));
    for (const line of near) {
      const said = String(line).padStart(4) + "  " + known[line].slice(indent);
      text.append(line === number ? element("b", "", said) : said, "\n");
    }
    made.appendChild(text);
  }
  return made;
}

/* -- search ------------------------------------------------------------------------------- */

function textOf(node) {
  if (node.text === undefined) {
    const place = node.place ? [node.place.join(":"), sourceText(node.place)] : [];
    const reads = node.operands.map((one) => one.text || "");
    node.text = [node.label, pathTo(node), ...node.results.flat(), ...node.attributes.flat(), ...reads, ...place]
      .join(" ").toLowerCase();
  }
  return node.text;
}

function search(wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  matches = [];
  if (words.length) {
    matches = nodes.filter((node) => words.every((word) => textOf(node).includes(word))).map((node) => node.id);
  }
  matched = new Set(matches);
  at = -1;
  if (matches.length) { step(1); } else { byId("found").textContent = words.length ? "none" : ""; drawNow(); }
}

function step(by) {
  if (!matches.length) { return; }
  at = (at + by + matches.length) % matches.length;
  byId("found").textContent = `${at + 1} of ${matches.length}`;
  goTo(matches[at]);
}

/* -- memory and values --------------------------------------------------------------------- */

const COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f"];
let boxes = [];

function drawMemory() {
  const memory = program.memory, canvas = byId("buffers"), pen = canvas.getContext("2d");
  byId("plan").textContent = memory.text;
  canvas.hidden = !memory.buffers.length;
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const left = 78, foot = height - 22, across = width - left - 8, up = foot - 14;
  boxes = memory.buffers.map(([name, size, offset, begin, end, id], number) => {
    const x = left + across * begin / memory.count, w = Math.max(across * (end - begin + 1) / memory.count, 0.7);
    const h = Math.max(size / memory.arena * up, 0.7), y = foot - offset / memory.arena * up - h;
    pen.fillStyle = COLOURS[number % COLOURS.length];
    pen.fillRect(x, y, w - (w > 3 ? 0.5 : 0), h - (h > 3 ? 0.5 : 0));
    if (w > 50 && h > 12) {
      pen.fillStyle = "#ffffff";
      pen.font = "11px system-ui, sans-serif";
      pen.fillText(name.slice(0, Math.floor(w / 6.5)), x + 3, y + h / 2 + 4);
    }
    return {x, y, w, h, id, text: `${name}: ${bytes(size)} at ${offset}, operators ${begin} to ${end}`};
  });
  pen.fillStyle = getComputedStyle(document.body).color;
  pen.font = "12px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.fillText(bytes(memory.arena), left - 6, 24);
  pen.fillText("0", left - 6, foot);
  pen.fillText("operator " + (memory.count - 1), left + across, height - 6);
  pen.textAlign = "left";
  pen.fillText("operator 0", left, height - 6);
}

function bytes(size) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (size >= 1024 && unit < 3) { size /= 1024; unit++; }
  return (unit ? size.toFixed(1) : size) + " " + units[unit];
}

function boxAt(event) {
  const place = byId("buffers").getBoundingClientRect();
  const x = event.clientX - place.left, y = event.clientY - place.top;
  return boxes.find((box) => box.x <= x && x <= box.x + box.w && box.y <= y && y <= box.y + box.h);
}

function drawValues() {
  const into = byId("values");
  into.replaceChildren();
  for (const {title, heads, entries} of program.tables) {
    into.appendChild(element("h2", "", title));
    const made = element("table");
    const row = (cells, kind) => {
      const line = element("tr");
      line.append(...cells.map((cell) => element(kind, "", cell)));
      return line;
    };
    made.append(row(heads, "th"), ...entries.map((cells) => row(cells, "td")));
    into.appendChild(made);
  }
}

function look(view) {
  for (const name of ["graph", "memory", "values"]) { byId(name).hidden = name !== view; }
  byId("details").hidden = view === "values";
  for (const button of document.querySelectorAll("nav button")) {
    button.classList.toggle("chosen", button.dataset.view === view);
  }
  if (view === "memory") { drawMemory(); }
  if (view === "values") { drawValues(); }
  if (view === "graph") { drawNow(); }
}

/* -- what the user does --------------------------------------------------------------------- */

function onRow(event) {
  const row = event.target.closest(".row");
  if (!row) { return; }
  const node = nodes[row.dataset.id];
  if (event.target.classList.contains("sign") || event.type === "dblclick") { toggle(node); } else { choose(node, false); }
}

function onKey(event) {
  const row = chosen ? rowOf[chosen.id] : -1, by = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (by) {
    const next = shown[Math.min(Math.max(row + by, 0), shown.length - 1)];
    if (next) { choose(next, true); }
  } else if (chosen && event.key === "ArrowRight") {
    if (!chosen.open) { toggle(chosen); }
  } else if (chosen && event.key === "ArrowLeft") {
    if (chosen.open && chosen.children.length) { toggle(chosen); } else if (nodes[chosen.parent]) { choose(nodes[chosen.parent], true); }
  } else { return; }
  event.preventDefault();
}

function changeLevel(depth) {
  openTo(Math.max(0, depth));
  redraw();
}

function start(number) {
  read(data.programs[number]);
  chosen = null;
  byId("changes").hidden = !program.compares;
  byId("summary").textContent = program.summary;
  openFirst();
  redraw();
  search(byId("search").value);
  byId("details").replaceChildren(element("p", "pale", data.help), ...legend());
  look("graph");
}

graph.addEventListener("scroll", draw);
rows.addEventListener("click", onRow);
rows.addEventListener("dblclick", onRow);
graph.addEventListener("keydown", onKey);
window.addEventListener("resize", () => look(["graph", "memory", "values"].find((name) => !byId(name).hidden)));
byId("more").addEventListener("click", () => changeLevel(level + 1));
byId("less").addEventListener("click", () => changeLevel(level - 1));
byId("all").addEventListener("click", () => changeLevel(Infinity));
byId("changes").addEventListener("change", redraw);
byId("next").addEventListener("click", () => step(1));
byId("before").addEventListener("click", () => step(-1));
byId("search").addEventListener("input", (event) => search(event.target.value));
byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") { step(event.shiftKey ? -1 : 1); } });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== byId("search")) { event.preventDefault(); byId("search").focus(); }
});
byId("buffers").addEventListener("mousemove", (event) => {
  const box = boxAt(event);
  if (box) { byId("buffer").textContent = box.text; }
});
byId("buffers").addEventListener("click", (event) => { const box = boxAt(event); if (box && box.id >= 0) { goTo(box.id); } });
for (const button of document.querySelectorAll("nav button")) {
  button.addEventListener("click", () => look(button.dataset.view));
}
const select = byId("program");
select.hidden = data.programs.length < 2;
data.programs.forEach((one, number) => {
  const option = element("option", "", one.name);
  option.value = number;
  select.appendChild(option);
});
select.addEventListener("change", () => start(Number(select.value)));
start(0);
if (location.hash.length > 1) {  // page.html#layers.0: what is looked for at first
  byId("search").value = decodeURIComponent(location.hash.slice(1));
  search(byId("search").value);
}
