import { Client } from "undici"
import type { Recorder } from "./Recorder.ts"

/** An answer whose status is not the one a flow needs: it ends the flow, which then counts as failed. */
export class WrongStatus extends Error {
  readonly status: number
  constructor(step: string, status: number) {
    super(`${step}: ${status}`)
    this.status = status
  }
}

interface Identified {
  readonly data: { readonly id: string; readonly secret?: string }
}

/** One client with one kept connection. Every request is timed under the name of its step. */
export class Shopper {
  readonly number: number
  readonly #client: Client
  readonly #recorder: Recorder
  readonly #headers: Readonly<Record<string, string>>

  constructor(origin: string, number: number, recorder: Recorder, headers: Readonly<Record<string, string>> = {}) {
    this.number = number
    this.#headers = headers
    this.#client = new Client(origin, { pipelining: 1 })
    this.#recorder = recorder
  }

  /** Sends a request and gives the text of its answer; throws `WrongStatus` unless it has the status. */
  async text(
    step: string,
    status: number,
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: unknown,
    secret?: string,
    bearer?: string
  ): Promise<string> {
    const started = performance.now()
    const answer = await this.#client.request({
      method,
      path,
      headers: {
        ...this.#headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(secret === undefined ? {} : { "x-cart-secret": secret }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await answer.body.text()
    this.#recorder.step(step, performance.now() - started, text.length)
    if (answer.statusCode !== status) throw new WrongStatus(step, answer.statusCode)
    return text
  }

  /** The record of an answer that made one. */
  async made(step: string, path: string, body: unknown, secret?: string): Promise<Identified["data"]> {
    // Both servers answer 201 with a record in the envelope; a wrong shape fails in the next request of the flow.
    return (JSON.parse(await this.text(step, 201, "POST", path, body, secret)) as Identified).data
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}
