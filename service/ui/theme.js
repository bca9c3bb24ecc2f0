// Sets the chosen theme before anything is drawn. If none was chosen, the system's applies.
(() => {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
