import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript-api"

const plugins = join(import.meta.dirname, "../../src/plugins")

/** Makers of refusals, by the place of their sentence among their arguments. */
const makers: Readonly<Record<string, number>> = { conflict: 1, forbidden: 1, invalid: 2, notFound: 1 }

/** The texts that an argument may give: each with `…` for what is filled in. */
const textsOf = (node: ts.Node): ReadonlyArray<string> => {
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("")]
  }
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf)
  if (ts.isArrowFunction(node)) return textsOf(node.body)
  return ts.isParenthesizedExpression(node) ? textsOf(node.expression) : []
}

/** Whether a text is a sentence that begins with a capital letter or with its field. */
const isSentence = (text: string, fields: ReadonlyArray<string>): boolean =>
  text.endsWith(".") &&
  (/^[A-Z…]/.test(text) || fields.some((field) => field !== "" && text.startsWith(field)))

/** Refusals of a source that are no sentences. */
const flawsOf = (source: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const sentence = node.arguments[makers[node.expression.text] ?? -1]
      const path = node.expression.text === "invalid" ? node.arguments[1] : undefined
      const fields = path === undefined ? [] : textsOf(path)
      if (sentence !== undefined) found.push(...textsOf(sentence).filter((text) => !isSentence(text, fields)))
    }
    node.forEachChild(visit)
  }
  visit(ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest))
  return found
}

describe("refusals of the kit and of plugins", () => {
  it("are sentences that begin with their field or a capital letter", () => {
    const sources = globSync("**/*.ts", { cwd: plugins }).filter((file) => !file.includes("test/"))
    assert.isAbove(sources.length, 100)
    const flaws = sources.flatMap((file) =>
      flawsOf(readFileSync(join(plugins, file), "utf8")).map((text) => `${file}: ${text}`)
    )
    assert.deepStrictEqual(flaws, [])
  })

  it("are refused as half sentences", () => {
    const half = [
      `invalid("A", "name", "is no name.")`,
      `invalid("A", "name", "name must be short")`,
      `invalid("A", "", (most: number) => most < 0 ? "the list is long." : \`At most \${most}.\`)`,
      `conflict("A", "taken.")`
    ]
    assert.deepStrictEqual(half.map((one) => flawsOf(one).length), [1, 1, 1, 1])
    const whole = [
      `invalid("A", "name", "name must be short.")`,
      `invalid("A", (line: number) => \`items.\${line}\`, (line) => \`items.\${line} must be short.\`)`,
      `notFound("A", "No name.")`
    ]
    assert.deepStrictEqual(whole.flatMap(flawsOf), [])
  })
})
