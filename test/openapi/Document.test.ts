import { Api } from "../../src/http/Api.ts"
import { documentOptions } from "../../src/http/docs/Docs.ts"
import { describeDocument } from "./DocumentChecks.ts"

describeDocument("Stoa", Api, documentOptions())
