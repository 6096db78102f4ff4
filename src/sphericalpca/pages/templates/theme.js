// Light or dark: the system's setting, until the reader chooses.
(() => {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // Pages from a file may have no storage: the choice then lasts as long as the page.
  }

  const show = () => {
    const theme = chosen ?? (system.matches ? "dark" : "light");
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) {
      button.textContent = theme === "dark" ? "Light theme" : "Dark theme";
    }
  };

  show();
  system.addEventListener("change", show);
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", show);
  addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").hidden = false;
    document.getElementById("theme").addEventListener("click", () => {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem("theme", chosen);
      } catch {
        // See above.
      }
      show();
    });
  });
})();
