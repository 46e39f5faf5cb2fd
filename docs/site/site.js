// A page with <input class="filter"> shows only the rows of its tables that have all of its words.
// Tables of which nothing is left go, and so do the headings over them.
document.addEventListener("input", (event) => {
  const box = event.target;
  if (!box.classList.contains("filter")) return;
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hide = (element, is_hidden) => element.classList.toggle("filter-none", is_hidden);
  let heading = null;
  for (const one of box.closest("article").querySelectorAll("h2, table")) {
    if (one.tagName === "H2") {
      heading = one;
      hide(heading, words.length > 0);
      continue;
    }
    let left = 0;
    for (const row of one.querySelectorAll("tbody tr")) {
      const text = row.textContent.toLowerCase();
      const is_shown = words.every((word) => text.includes(word));
      hide(row, !is_shown);
      left += is_shown;
    }
    hide(one, left === 0);
    if (heading && left) hide(heading, false);
  }
});
