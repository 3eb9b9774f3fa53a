import { GuildhallError } from '@guildhall/client/console'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { Dialog } from '../dialog/dialog.tsx'
import { ErrorNote } from '../error-state.tsx'
import { Field } from './field.tsx'
import type { FieldKind, Fields, ValuesOf } from './field-kinds.ts'
import type { Question } from './question.ts'

/** What is typed into a form, and what is wrong with it. */
export function useForm<F extends Fields>(fields: F) {
  const initial = () =>
    Object.fromEntries(Object.entries(fields).map(([name, { initial }]) => [name, initial]))
  const first = useRef(initial())
  const [texts, setTexts] = useState<Record<string, string>>(first.current)
  const [complaints, setComplaints] = useState<Record<string, string>>({})
  return {
    texts,
    complaints,
    isDirty: Object.entries(texts).some(([name, text]) => text !== first.current[name]),
    setText(name: string, text: string) {
      setTexts((before) => ({ ...before, [name]: text }))
      setComplaints(({ [name]: _, ...others }) => others)
    },
    /** The values, unless something is wrong; then it says what. */
    async values(): Promise<ValuesOf<F> | undefined> {
      const shown = Object.entries(fields).filter(([, field]) => isShown(field, texts))
      const read = await Promise.all(
        shown.map(async ([name, field]) => [name, await field.read(texts[name] ?? '')] as const),
      )
      const wrong = read.flatMap(([name, it]) => ('complaint' in it ? [[name, it.complaint]] : []))
      setComplaints(Object.fromEntries(wrong))
      if (wrong.length > 0) return undefined
      const values = read.map(([name, it]) => [name, 'value' in it ? it.value : undefined])
      // Each value was read by the field of its name; only the mapped type knows that.
      return Object.fromEntries(values) as ValuesOf<F>
    },
    /** Of the values those whose text is another than at first. */
    changed(values: ValuesOf<F>): Partial<ValuesOf<F>> {
      const changed = Object.entries(values).filter(([name]) => texts[name] !== first.current[name])
      return Object.fromEntries(changed) as Partial<ValuesOf<F>>
    },
    /** Puts the server's words about a field beside it; answers whether it did. */
    complain(error: unknown): void {
      if (!(error instanceof GuildhallError) || error.status !== 400) return
      const name = Object.keys(fields).find((one) => error.message.startsWith(one))
      if (name !== undefined) setComplaints({ [name]: error.message })
    },
  }
}

function isShown(field: FieldKind<unknown>, texts: Readonly<Record<string, string>>): boolean {
  return field.isShown?.(texts) ?? true
}

type FormHandle<F extends Fields> = ReturnType<typeof useForm<F>>

type FieldsProps<F extends Fields> = { fields: F; form: FormHandle<F>; onText(): void }

function FormFields<F extends Fields>({ fields, form, onText }: FieldsProps<F>) {
  const shown = Object.entries(fields).filter(([, kind]) => isShown(kind, form.texts))
  return shown.map(([name, kind]) => (
    <Field
      key={name}
      name={name}
      kind={kind}
      text={form.texts[name] ?? ''}
      complaint={form.complaints[name]}
      onText={(text) => {
        form.setText(name, text)
        onText()
      }}
    />
  ))
}

type FormDialogProps<F extends Fields> = {
  title: string
  action: string
  fields: F
  /**
   * Sends it; the dialog closes when it succeeds. Who edits sends what was changed alone: the rest
   * may be another by now.
   */
  submit(values: ValuesOf<F>, changed: Partial<ValuesOf<F>>): Promise<unknown>
  /** What the values would do, where they ask for a second look. */
  ask?(values: ValuesOf<F>): Question | undefined
  onClose(): void
  wide?: boolean
  children?: ReactNode
}

/** A form over the page. What was typed stays when it is refused, also when the session ends. */
export function FormDialog<F extends Fields>(props: FormDialogProps<F>) {
  const { title, action, fields, onClose, wide = false, children } = props
  const form = useForm(fields)
  const sending = useSending(form, props)
  const { error, isBusy, question } = sending
  return (
    <Dialog title={title} onClose={onClose} dirty={form.isDirty} wide={wide}>
      <form
        className="dialog-body"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          void sending.send()
        }}
      >
        {children}
        <FormFields fields={fields} form={form} onText={sending.takeBack} />
        <ErrorNote error={error} />
        {question === undefined ? (
          <div className="row">
            <span className="grow" />
            <button type="submit" className="primary" disabled={isBusy}>
              {action}
            </button>
          </div>
        ) : (
          <Asking
            question={question}
            isBusy={isBusy}
            onBack={sending.takeBack}
            onConfirm={sending.confirm}
          />
        )}
      </form>
    </Dialog>
  )
}

type AskingProps = { question: Question; isBusy: boolean; onBack(): void; onConfirm(): void }

function Asking({ question: { words, action }, isBusy, onBack, onConfirm }: AskingProps) {
  return (
    <div className="note-box stack-tight" data-tone="warn" role="alert">
      <p className="break">{words}</p>
      <div className="row">
        <span className="grow" />
        <button type="button" onClick={onBack}>
          Back
        </button>
        <button type="button" className="danger primary" disabled={isBusy} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </div>
  )
}

/** From the values to the answer. What is typed meanwhile takes back a question and a refusal. */
function useSending<F extends Fields>(form: FormHandle<F>, props: FormDialogProps<F>) {
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [asked, setAsked] = useState<{ question: Question; values: ValuesOf<F> }>()
  /** One at a time, whatever is pressed. */
  const run = async (work: () => Promise<void>) => {
    if (isBusy) return
    setBusy(true)
    setError(null)
    try {
      await work()
    } catch (refusal) {
      setAsked(undefined)
      form.complain(refusal)
      setError(refusal instanceof Error ? refusal : new Error(String(refusal)))
    } finally {
      setBusy(false)
    }
  }
  const submit = async (values: ValuesOf<F>) => {
    await props.submit(values, form.changed(values))
    props.onClose()
  }
  const send = async () => {
    const values = await form.values()
    if (values === undefined) return
    const question = props.ask?.(values)
    if (question === undefined) await submit(values)
    else setAsked({ question, values })
  }
  return {
    error,
    isBusy,
    question: asked?.question,
    send: () => run(send),
    confirm: () => void (asked && run(() => submit(asked.values))),
    takeBack() {
      setAsked(undefined)
      setError(null)
    },
  }
}
