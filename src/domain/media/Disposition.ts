import { typeNamed } from "./MediaTypes.ts"

/**
 * How a browser takes a file (RFC 6266): what might run is saved and never opened; everything else is shown. The name is
 * given twice, in plain letters and whole.
 */
export const dispositionOf = (contentType: string, filename: string): string => {
  const how = typeNamed(contentType)?.isActive === false ? "inline" : "attachment"
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_")
  const whole = encodeURIComponent(filename).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `${how}; filename="${plain}"; filename*=UTF-8''${whole}`
}
