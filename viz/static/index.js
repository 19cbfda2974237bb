"use strict";
{
  const find = document.getElementById("find"), found = document.getElementById("found");
  const items = [...document.querySelectorAll("main li")];
  find.addEventListener("input", () => {
    const words = find.value.trim().toLowerCase().split(/\s+/);
    let count = 0;
    for (const item of items) {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
      if (!item.hidden) count += 1;
    }
    for (const group of document.querySelectorAll("main section")) {
      group.hidden = !group.querySelector("li:not([hidden])");
    }
    found.textContent = `${count} / ${items.length}`;
  });
}
