// Above each long table a box that hides the rows without what is typed. Config names begin with
// the folder in the first column: gsm8k_gen finds gsm8k.
for (const table of document.querySelectorAll('article table')) {
  const rows = [...table.tBodies[0].rows]
  if (rows.length < 30) continue
  const box = document.createElement('input')
  box.type = 'search'
  box.placeholder = box.ariaLabel = `Search in ${rows.length} rows`
  box.className = 'search-table'
  box.addEventListener('input', () => {
    const typed = box.value.trim().toLowerCase()
    for (const row of rows) {
      const name = row.cells[0].textContent.toLowerCase()
      const within = typed.startsWith(name + '_') || typed.startsWith(name + '/')
      row.hidden = !within && !row.textContent.toLowerCase().includes(typed)
    }
  })
  table.before(box)
}
