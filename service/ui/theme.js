// The theme that was chosen, before anything is drawn; none chosen: the system's.
(() => {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
