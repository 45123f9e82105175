import { startPostgres } from "../../src/layers/postgres/EmbeddedPostgres.ts"

// Run as a separate program by the tests: starts the server, reports it on one line, and waits to be killed or for the
// end of its input, which is the end of the test.
const server = await startPostgres(JSON.parse(process.argv[2] ?? "{}"))
process.stdout.write(`${JSON.stringify(server)}\n`)
process.stdin.resume()
