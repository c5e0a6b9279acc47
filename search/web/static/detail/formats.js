// How is an icon written into other people's code? Pure functions from SVG text to text.

const SVG = "http://www.w3.org/2000/svg";
const CAMEL_ANYWAY = /^(data|aria)-/; // the two families of attributes that JSX leaves alone

/** `arrow-left` -> `ArrowLeft`; a name for a component must begin with a capital letter. */
export function componentName(name) {
  const joined = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean).map((word) => word[0].toUpperCase() + word.slice(1)).join("");
  return /^\p{Lu}/u.test(joined) ? joined : `Icon${joined}`;
}

/** `Arrow left` -> `arrow-left`, for class and file names. */
export const slug = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "icon";

/** Read SVG text into an element that holds only drawing: no comments, scripts or event handlers. */
function readDrawing(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.localName !== "svg") throw new Error("This picture is no SVG that can be read; download it as PNG.");
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ALL);
  const unwanted = [];
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    if (node.nodeType === Node.COMMENT_NODE || node.nodeType === Node.PROCESSING_INSTRUCTION_NODE) unwanted.push(node);
    else if (node.nodeType === Node.TEXT_NODE && !node.data.trim()) unwanted.push(node);
    else if (/^(script|foreignObject)$/i.test(node.localName ?? "")) unwanted.push(node);
    for (const { name, value } of [...(node.attributes ?? [])]) {
      if (/^on/i.test(name) || /^\s*javascript:/i.test(value)) node.removeAttribute(name);
    }
  }
  unwanted.forEach((node) => node.remove());
  return root;
}

/** SVG on one line, with nothing in it that does not draw. */
export const toCleanSvg = (text) => new XMLSerializer().serializeToString(readDrawing(text)).replace(/\s*\n\s*/g, " ").trim();

/** A data URI that may stand between double quotes, in CSS, HTML and JavaScript. */
export function toDataUri(text) {
  const readable = { "%20": " ", "%3D": "=", "%3A": ":", "%2F": "/", "%2C": ",", "%3B": ";" };
  const encoded = encodeURIComponent(toCleanSvg(text)).replace(/%(20|3D|3A|2F|2C|3B)/g, (code) => readable[code]);
  return `data:image/svg+xml,${encoded.replaceAll("'", "%27")}`;
}

/** A class that draws the icon: in the colour of the text, or in its own colours. */
export function toCss(text, { name, coloured }) {
  const uri = `url("${toDataUri(text)}")`;
  const drawing = coloured
    ? `  background: ${uri} center / contain no-repeat;`
    : `  background: currentColor;\n  -webkit-mask: ${uri} center / contain no-repeat;\n  mask: ${uri} center / contain no-repeat;`;
  return `.icon-${slug(name)} {\n  display: inline-block;\n  width: 1em;\n  height: 1em;\n${drawing}\n}\n`;
}

/** A component of React and its relatives that hands its properties on to the SVG. */
export function toJsx(text, { name }) {
  const body = jsxElement(readDrawing(text), { depth: 2, rest: " {...props}" });
  return `export function ${componentName(name)}(props) {\n  return (\n${body}\n  );\n}\n`;
}

/** A single-file component of Vue; attributes fall through to the SVG by themselves. */
export function toVue(text) {
  return `<template>\n  ${toCleanSvg(text)}\n</template>\n`;
}

function jsxElement(element, { depth, rest = "" }) {
  const indent = "  ".repeat(depth);
  const tag = element.localName;
  const namespace = rest && element.namespaceURI === SVG && !element.hasAttribute("xmlns") ? ` xmlns="${SVG}"` : "";
  const open = `${indent}<${tag}${namespace}${[...element.attributes].map(jsxAttribute).join("")}${rest}`;
  const children = [...element.childNodes].map((child) =>
    child.nodeType === Node.ELEMENT_NODE
      ? jsxElement(child, { depth: depth + 1 })
      : `${indent}  {${JSON.stringify(child.data)}}`,
  );
  return children.length ? `${open}>\n${children.join("\n")}\n${indent}</${tag}>` : `${open} />`;
}

function jsxAttribute({ name, value }) {
  if (name === "style") return ` style={{ ${styleProperties(value).join(", ")} }}`;
  const spelled = name === "class" ? "className" : CAMEL_ANYWAY.test(name) ? name : camel(name);
  return /["&\\\n]/.test(value) ? ` ${spelled}={${JSON.stringify(value)}}` : ` ${spelled}="${value}"`;
}

const camel = (name) => name.replace(/[-:](.)/g, (_, letter) => letter.toUpperCase());

function styleProperties(style) {
  const declarations = style.split(/;(?![^(]*\))/).map((part) => part.trim()).filter(Boolean);
  return declarations.map((declaration) => {
    const at = declaration.indexOf(":");
    const [property, value] = [declaration.slice(0, at).trim(), declaration.slice(at + 1).trim()];
    const key = property.startsWith("--") ? JSON.stringify(property) : camel(property);
    return `${key}: ${JSON.stringify(value)}`;
  });
}
