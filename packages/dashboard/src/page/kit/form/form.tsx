import { GuildhallError } from '@guildhall/client/console'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { Dialog } from '../dialog/dialog.tsx'
import { ErrorNote } from '../error-state.tsx'
import { Field } from './field.tsx'
import type { Fields, ValuesOf } from './field-kinds.ts'

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
    values(): ValuesOf<F> | undefined {
      const read = Object.entries(fields).map(
        ([name, field]) => [name, field.read(texts[name] ?? '')] as const,
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

type FormHandle<F extends Fields> = ReturnType<typeof useForm<F>>

export function FormFields<F extends Fields>({ fields, form }: { fields: F; form: FormHandle<F> }) {
  return Object.entries(fields).map(([name, kind]) => (
    <Field
      key={name}
      name={name}
      kind={kind}
      text={form.texts[name] ?? ''}
      complaint={form.complaints[name]}
      onText={(text) => form.setText(name, text)}
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
  onClose(): void
  wide?: boolean
  children?: ReactNode
}

/** A form over the page. What was typed stays when it is refused, also when the session ends. */
export function FormDialog<F extends Fields>(props: FormDialogProps<F>) {
  const { title, action, fields, submit, onClose, wide = false, children } = props
  const form = useForm(fields)
  const { error, isBusy, onSubmit } = useSubmit(form, submit, onClose)
  return (
    <Dialog title={title} onClose={onClose} dirty={form.isDirty} wide={wide}>
      <form className="dialog-body" noValidate onSubmit={onSubmit}>
        {children}
        <FormFields fields={fields} form={form} />
        <ErrorNote error={error} />
        <div className="row">
          <span className="grow" />
          <button type="submit" className="primary" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function useSubmit<F extends Fields>(
  form: FormHandle<F>,
  submit: FormDialogProps<F>['submit'],
  onDone: () => void,
) {
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const send = async () => {
    const values = form.values()
    if (values === undefined) return
    setBusy(true)
    setError(null)
    try {
      await submit(values, form.changed(values))
      onDone()
    } catch (refusal) {
      form.complain(refusal)
      setError(refusal instanceof Error ? refusal : new Error(String(refusal)))
    } finally {
      setBusy(false)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!isBusy) void send()
  }
  return { error, isBusy, onSubmit }
}
