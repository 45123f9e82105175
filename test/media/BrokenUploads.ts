import { Effect } from "effect"
import { request } from "node:http"
import { asAdmin, TestApp } from "../support/TestApp.ts"

const boundary = "the-boundary"

/** The beginning of a form, up to the first byte of its file. */
const opening = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.pdf"\r\n` +
  "Content-Type: application/pdf\r\n\r\n%PDF-1.7\n"
const closing = `\r\n--${boundary}--\r\n`

/** The answer; status 0 without one. */
export interface RawAnswer {
  readonly status: number
  readonly body: string
}

/** How a form is sent; sizes in bytes. */
export interface RawForm {
  /** Of the file, which is sent in pieces. */
  readonly size: number
  /** Announces the length of the whole form instead of sending it in chunks. */
  readonly declared?: boolean
  /** The client hangs up when this much of the file is sent. */
  readonly hangsUpAfter?: number
  /** The client pauses when this much is sent. */
  readonly pausesAfter?: number
  /** The form ends there, without its last boundary. */
  readonly unfinished?: boolean
}

const chunk = Buffer.alloc(65_536, 0x20)

/** Sends a PDF of this size as a stream, with a client that may not behave. */
export const sendRaw = (form: RawForm, base?: string) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.callback<RawAnswer>((resume) => {
      const { declared = false, hangsUpAfter, pausesAfter, size, unfinished = false } = form
      const length = opening.length + size + closing.length
      const sent = request(`${base ?? url}/api/media/upload`, {
        method: "POST",
        agent: false,
        headers: {
          "content-type": `multipart/form-data; boundary=${boundary}`,
          "x-test-actor": JSON.stringify(asAdmin),
          ...declared ? { "content-length": String(length) } : {}
        }
      })
      sent.on("response", (response) => {
        let body = ""
        response.on("data", (part: Buffer) => {
          body += part.toString()
        })
        response.on("end", () => {
          resume(Effect.succeed({ status: response.statusCode ?? 0, body }))
          sent.destroy()
        })
      })
      sent.on("error", (error) => resume(Effect.succeed({ status: 0, body: String(error) })))
      sent.write(opening)
      let left = size
      const more = () => {
        for (;;) {
          if (hangsUpAfter !== undefined && size - left >= hangsUpAfter) return void sent.destroy()
          if (pausesAfter !== undefined && size - left >= pausesAfter) return undefined
          if (left <= 0) return void sent.end(unfinished ? "" : closing)
          const part = left >= chunk.length ? chunk : chunk.subarray(0, left)
          left -= part.length
          if (!sent.write(part)) return void sent.once("drain", more)
        }
      }
      more()
      return Effect.sync(() => sent.destroy())
    }))

/** A request without a valid form. */
export const sendNonsense = (contentType: string, body: string) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async () => {
      const answer = await fetch(`${url}/api/media/upload`, {
        method: "POST",
        headers: { "content-type": contentType, "x-test-actor": JSON.stringify(asAdmin) },
        body
      })
      return { status: answer.status, body: await answer.text() }
    }))
