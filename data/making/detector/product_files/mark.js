({ hiding, largest, skip, ornaments, pictures, backgrounds, texts }) => {
  if (window.FontAwesome && window.FontAwesome.noAuto) window.FontAwesome.noAuto()  // or it draws what is hidden anew
  document.head.append(Object.assign(document.createElement('style'), { textContent: hiding }))
  const named = new Map([...document.querySelectorAll('[data-icon]')].map(element => [element, element.dataset.icon]))
  for (const element of named.keys()) element.removeAttribute('data-icon')
  const facts = []
  const matches = (element, selector) => selector !== '' && element.matches(selector)
  const isSmall = element => {
    const { width, height } = element.getBoundingClientRect()
    return Math.max(width, height) <= largest && Math.min(width, height) >= 3
  }
  const mark = (element, drawn, hide, svg = '') => {
    const prefix = element.dataset.prefix ?? ''
    const sides = [element.getBoundingClientRect().width, element.getBoundingClientRect().height]
    element.dataset.icon = facts.length
    element.dataset.drawn = drawn
    element.dataset.hide = hide
    const classes = element.getAttribute('class') ?? ''
    facts.push({ classes, name: named.get(element) ?? '', prefix, svg, drawn, sides })
  }
  const drawing = image => {  // the SVG that a picture's address holds
    const [, encoding, content] = image.match(/^url\("data:image\/svg\+xml;?([^,]*),(.*)"\)$/s) ?? []
    if (content === undefined) return ''
    const plain = content.replaceAll('\\"', '"')
    try {
      const svg = encoding.includes('base64') ? atob(plain) : decodeURIComponent(plain)
      return new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement.outerHTML
    } catch { return '' }
  }
  const stand_in = (element, number) => {  // an element has one mark; its second pseudo-element is marked by another
    const { left, top, width, height } = element.getBoundingClientRect()
    const other = document.createElement('i')
    const box = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`
    other.style.cssText = `position:fixed;pointer-events:none;${box}`
    element.dataset.after = number
    const rule = `body:has(> [data-icon="${number}"].icon-off) [data-after="${number}"]::after{opacity:0!important}`
    document.head.append(Object.assign(document.createElement('style'), { textContent: rule }))
    document.body.append(other)
    return other
  }
  const glyph = (element, pseudo) => {
    const style = getComputedStyle(element, pseudo)
    if (!['none', 'normal'].includes(style.content) && style.maskImage.startsWith('url')) return true
    const content = style.content.replace(/^["']|["']$/g, '').replace(/^\\/, '')
    if ([...content].length !== 1 || content === ' ' || style.display === 'none') return false
    const point = content.codePointAt(0)
    const isPrivate = (point >= 0xe000 && point <= 0xf8ff) || point >= 0xf0000
    return isPrivate || /awesome|icon|glyph|material|feather/i.test(style.fontFamily)
  }
  const written = svg => {
    const copy = svg.cloneNode(true)
    const style = getComputedStyle(svg)
    for (const name of ['fill', 'stroke']) copy.setAttribute(name, style[name] === 'none' ? 'none' : '#000')
    for (const name of ['stroke-width', 'stroke-linecap', 'stroke-linejoin'])
      copy.setAttribute(name, style.getPropertyValue(name))
    const uses = [...copy.querySelectorAll('use')]
    for (const use of uses) {
      const at = use.getAttribute('href') ?? use.getAttribute('xlink:href') ?? ''
      const symbol = at.startsWith('#') ? document.getElementById(at.slice(1)) : null
      if (symbol) {
        if (symbol.hasAttribute('viewBox')) copy.setAttribute('viewBox', symbol.getAttribute('viewBox'))
        use.outerHTML = symbol.innerHTML
      }
    }
    return copy.outerHTML
  }
  for (const element of document.querySelectorAll('body *')) {
    if (matches(element, ornaments) || (skip !== '' && element.closest(skip))) continue
    if (element instanceof SVGElement) {
      if (matches(element, pictures)) {
        mark(element, 'img', 'self')
        continue
      }
      const isOutermost = element.tagName === 'svg' && !element.parentElement.closest('svg')
      if (isOutermost && isSmall(element) && element.childElementCount)
        mark(element, 'inline', 'self', written(element))
      continue
    }
    const [before, after] = [glyph(element, '::before'), glyph(element, '::after')]
    const masks = ['::before', '::after'].map(pseudo => drawing(getComputedStyle(element, pseudo).maskImage))
    if (before) mark(element, 'font-before', 'before', masks[0])
    if (before && after) mark(stand_in(element, facts.length), 'font-after', 'self', masks[1])
    if (before) continue
    if (after) mark(element, 'font-after', 'after', masks[1])
    else if (matches(element, texts)) mark(element, 'font', 'text')
    else if (matches(element, pictures) && isSmall(element)) mark(element, 'img', 'self')
    else if (matches(element, backgrounds) && getComputedStyle(element).backgroundImage.includes('url('))
      mark(element, 'background', 'background', drawing(getComputedStyle(element).backgroundImage))
    else if (getComputedStyle(element).maskImage.startsWith('url') && isSmall(element))
      mark(element, 'mask', 'self', drawing(getComputedStyle(element).maskImage))
  }
  return facts
}
