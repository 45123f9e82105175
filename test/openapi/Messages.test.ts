import { assert, describe, expect, it } from "@effect/vitest"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { everyPlugin } from "./EveryPlugin.ts"
import { flawOf, messagesOf, sources, sourceText } from "./Messages.ts"

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

/** Verbs that summaries of operations begin with. A read is `Get` for one record, `List` for several. */
const verbs = new Set(
  ("Accept Add Adjust Allow Approve Archive Attach Block Book Calculate Cancel Capture Change Check Choose " +
    "Claim Clear Close Compare Complete Confirm Connect Convert Correct Count Create Deactivate Decline " +
    "Delete Detach Detect Disable Disconnect Discontinue Dispatch Download End Erase Escalate Exchange Export Fill Find " +
    "Get Hold Import Inspect Invite Issue List Log Mail Mark Merge Move Open Pair Pause Pay Place Preview " +
    "Print Publish Query Recall Receive Reconcile Record Redirect Refund Refuse Register Reinstate Reject Release " +
    "Remove Replace Reply Report Request Reserve Resolve Restore Resume Retry Return Review Revoke Rotate Run " +
    "Rush Schedule Search Seat Send Set Ship Sign Skip Split Start Stream Submit Suggest Suspend Top Track " +
    "Unblock Undo Upload Use Validate Verify Void Vote Withdraw").split(" ")
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

  it("of operations are imperative and have no period at the end", () => {
    const isImperative = (summary: string) => verbs.has(summary.split(" ")[0] ?? "") && !summary.endsWith(".")
    assert.deepStrictEqual(operations.filter(({ summary }) => !isImperative(summary)), [])
    for (const other of ["Read an order", "Say that it has arrived", "The orders", "Get an order."]) {
      assert.isFalse(isImperative(other), other)
    }
  })

  it("are plain sentences that name their field", () => {
    const flaws = messages.flatMap((message) => {
      const flaw = flawOf(message)
      return flaw === undefined ? [] : [`${message.module}: ${message.text} ${flaw}`]
    })
    assert.deepStrictEqual(flaws, [])
  })

  it("are refused as half sentences, with patterns, words of validators or names of tables", () => {
    const half = [
      `invalid("A", "name", "must be short")`,
      `invalid("A", "name", "too short.")`,
      `invalid("A", "name", "No such thing.")`,
      `issue("name", "has the form ^[a-z]+$.")`,
      `conflict("A", "taken.")`,
      `notFound("A", "order_lines has no such row.")`,
      `Schema.makeFilter((text) => text !== "" || "must not be empty")`
    ]
    const whole = [
      `invalid("A", "name", "must be short.")`,
      `invalid("A", "name", "name must be short.")`,
      `notFound("A", "The name was not found.")`,
      `Schema.makeFilter((text) => text !== "" || "must not be empty.")`
    ]
    const flawed = (source: string) =>
      messagesOf([["domain/a/A.ts", source]]).filter((message) => flawOf(message) !== undefined).length
    assert.deepStrictEqual(half.map(flawed), half.map(() => 1))
    assert.deepStrictEqual(whole.map(flawed), whole.map(() => 0))
  })

  it("say the form of every text that a pattern checks", () => {
    const bare = sources().filter((file) => /isPattern\(\/(?:[^/\\]|\\.)*\/[a-z]*\)/.test(sourceText(file)))
    assert.deepStrictEqual(bare, [])
  })
})
