import { tooLarge } from "./FileRefused.ts"

const maxLine = 1_048_576

/** The lines of a text without their ends, LF or CRLF. */
export async function* textLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let [left, line] = ["", 1]
  for await (const piece of text) {
    const parts = `${left}${piece}`.split("\n")
    left = parts.pop() ?? ""
    for (const part of parts) {
      yield checked(part, line++)
    }
    checked(left, line)
  }
  if (left !== "") yield checked(left, line)
}

const checked = (line: string, number: number): string => {
  if (line.length > maxLine) throw tooLarge(`Line ${number} is longer than ${maxLine} characters.`)
  return line.endsWith("\r") ? line.slice(0, -1) : line
}
