import { assert, describe, expect, it } from "@effect/vitest"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { everyPlugin } from "./EveryPlugin.ts"
import { messagesOf, sources, sourceText } from "./Messages.ts"

/*
 * `messages.txt` shows every message of a refusal and every summary of an operation, so that one person can read them all.
 * After a change of either, `npm run messages` writes it again: review the difference.
 */

const messages = messagesOf(sources().map((file) => [file, sourceText(file)] as const))

const document = documentWith(testSettings("postgres://nowhere/none", {}), everyPlugin, "1.0.0")

const operations = Object.entries(Object(document["paths"])).flatMap(([path, methods]) =>
  Object.entries<{ readonly summary?: string }>(Object(methods)).map(([method, { summary = "" }]) => ({
    operation: `${method.toUpperCase()} ${path}`,
    summary
  }))
)

const distinct = (lines: ReadonlyArray<string>) => [...new Set(lines)].toSorted()

const section = (title: string, lines: ReadonlyArray<string>) => `\n${title}\n${distinct(lines).join("\n")}\n`

describe("messages to clients", () => {
  it("are those of messages.txt, and so are summaries", async () => {
    assert.isAbove(messages.length, 900)
    assert.isAbove(operations.length, 500)
    const modules = distinct(messages.map(({ module }) => module))
    const page = [
      ...modules.map((module) =>
        section(
          `[${module}]`,
          messages.filter((one) => one.module === module).map(({ code, status, text }) => `${code} ${status}  ${text}`)
        )
      ),
      section("[operations]", operations.map(({ operation, summary }) => `${operation}  ${summary}`))
    ]
    await expect(page.join("").trimStart()).toMatchFileSnapshot("messages.txt")
  })
})
