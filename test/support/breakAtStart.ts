import http from "node:http"
import { syncBuiltinESMExports } from "node:module"
import { Socket } from "node:net"

/**
 * `node --import` this: what STOA_TEST_BREAK names happens when the service makes its HTTP server; `rejection` when it
 * connects to its database.
 */
const broken = () => new TypeError("broken for the test")

const refuse = () => {
  throw new Error("the log cannot be written")
}

const breaks: Readonly<Record<string, () => void>> = {
  defect: () => {
    throw broken()
  },
  "defect and log": () => {
    Object.assign(process.stdout, { write: refuse })
    Object.assign(process.stderr, { write: refuse })
    throw broken()
  },
  exception: () => {
    setImmediate(() => {
      throw broken()
    })
  }
}

const how = process.env["STOA_TEST_BREAK"] ?? ""

const { createServer } = http
Object.assign(http, {
  createServer: (...args: Parameters<typeof createServer>) => {
    breaks[how]?.()
    return createServer(...args)
  }
})
syncBuiltinESMExports()

const { connect } = Socket.prototype
Object.assign(Socket.prototype, {
  connect: function(this: Socket, ...args: Parameters<typeof connect>) {
    if (how === "rejection") void Promise.reject(broken())
    return connect.apply(this, args)
  }
})
