package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
)

// Annotations of pods, as local-cluster knows them: "false" makes a pod unready, and the address of one whose containers
// the user runs.
const (
	readyAnnotation = "local-cluster/ready"
	ipAnnotation    = "local-cluster/pod-ip"
)

const leaseSeconds = 40

// nodes are the scheduler and all kubelets. Containers do not run.
type nodes struct {
	client kubernetes.Interface
	names  []string
	// The pods that were bound and those that were started, to choose the next node and address.
	bound, started int
	// What each pod's readiness was last made from, by namespace and name: a user's own change of the condition stays until that
	// changes.
	applied map[string]readiness
}

// readiness is what a pod's condition follows from.
type readiness struct {
	pod               types.UID
	containers, gates bool
}

func readinessOf(pod *corev1.Pod) readiness {
	gates := true
	for _, gate := range pod.Spec.ReadinessGates {
		gates = gates && isTrue(&pod.Status, gate.ConditionType)
	}
	return readiness{pod: pod.UID, containers: pod.Annotations[readyAnnotation] != "false", gates: gates}
}

func runNodes(ctx context.Context, a *access, count int) error {
	client, err := kubernetes.NewForConfig(a.config(a.admin))
	if err != nil {
		return err
	}
	n := &nodes{client: client, applied: map[string]readiness{}}
	for i := range count {
		name := fmt.Sprintf("node-%d", i+1)
		n.names = append(n.names, name)
		if err := n.create(ctx, name, fmt.Sprintf("10.0.0.%d", i+1)); err != nil {
			return err
		}
	}
	// Each pod is looked at again every second, which retries what failed.
	factory := informers.NewSharedInformerFactory(client, time.Second)
	pods := factory.Core().V1().Pods().Informer()
	// By name, so that a pod that changes often is looked at once, as it is then.
	queue := workqueue.NewTyped[cache.ObjectName]()
	add := func(pod any) {
		if name, err := cache.DeletionHandlingObjectToName(pod); err == nil {
			queue.Add(name)
		}
	}
	_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, pod any) { add(pod) }, DeleteFunc: add,
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	go n.work(ctx, queue, pods.GetStore())
	context.AfterFunc(ctx, queue.ShutDown)
	for ctx.Err() == nil {
		for _, name := range n.names {
			n.report(n.renew(ctx, name))
		}
		select {
		case <-ctx.Done():
		case <-time.After(leaseSeconds / 4 * time.Second):
		}
	}
	return nil
}

func (n *nodes) work(ctx context.Context, queue workqueue.TypedInterface[cache.ObjectName], pods cache.Store) {
	for {
		name, ends := queue.Get()
		if ends {
			return
		}
		pod, exists, err := pods.GetByKey(name.String())
		if err == nil && exists {
			err = n.sync(ctx, name.String(), pod.(*corev1.Pod))
		} else {
			delete(n.applied, name.String())
		}
		n.report(err)
		queue.Done(name)
	}
}

// report prints what failed, which is tried again; conflicts and absent pods only show that the view was old.
func (n *nodes) report(err error) {
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "real-cluster: nodes:", err)
	}
}

func (n *nodes) create(ctx context.Context, name, address string) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("64"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("10000"),
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelOSStable: "linux",
	}}}
	created, err := n.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		// Of an earlier start, which may not have reported its status.
		created, err = n.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	now := metav1.Now()
	created.Status = corev1.NodeStatus{
		Capacity:    capacity,
		Allocatable: capacity,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: address}, {Type: corev1.NodeHostName, Address: name},
		},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now,
		}},
	}
	_, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// renew keeps the node's lease, without which its pods are taken for lost.
func (n *nodes) renew(ctx context.Context, name string) error {
	leases := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease, err = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	lease.Spec.HolderIdentity = &name
	lease.Spec.LeaseDurationSeconds = ptr.To[int32](leaseSeconds)
	lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

// sync takes a pod one step on.
func (n *nodes) sync(ctx context.Context, name string, pod *corev1.Pod) error {
	pods := n.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && len(pod.Spec.SchedulingGates) == 0:
		node := n.names[n.bound%len(n.names)]
		n.bound++
		return pods.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
	case !slices.Contains(n.names, pod.Spec.NodeName):
		return nil
	case pod.DeletionTimestamp != nil:
		now := metav1.NewDeleteOptions(0)
		now.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
		return pods.Delete(ctx, pod.Name, *now)
	}
	wanted := readinessOf(pod)
	if pod.Status.Phase != corev1.PodPending && n.applied[name] == wanted {
		return nil
	}
	changed := pod.DeepCopy()
	if changed.Status.Phase == corev1.PodPending {
		n.start(changed)
	}
	setReadiness(&changed.Status, wanted)
	_, err := pods.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if err == nil {
		n.applied[name] = wanted
	}
	return err
}

// start is what a kubelet reports once all containers run.
func (n *nodes) start(pod *corev1.Pod) {
	status, now := &pod.Status, metav1.Now()
	ip := pod.Annotations[ipAnnotation]
	if ip == "" {
		n.started++
		ip = fmt.Sprintf("10.244.%d.%d", n.started/250, n.started%250+2)
	}
	status.Phase, status.StartTime = corev1.PodRunning, &now
	status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	for _, container := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Started: ptr.To(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	set(status, corev1.PodInitialized, "")
}

func setReadiness(status *corev1.PodStatus, wanted readiness) {
	for i := range status.ContainerStatuses {
		status.ContainerStatuses[i].Ready = wanted.containers
	}
	whyNot := ""
	if !wanted.containers {
		whyNot = "ContainersNotReady"
	}
	set(status, corev1.ContainersReady, whyNot)
	if wanted.containers && !wanted.gates {
		whyNot = "ReadinessGatesNotReady"
	}
	set(status, corev1.PodReady, whyNot)
}

func isTrue(status *corev1.PodStatus, kind corev1.PodConditionType) bool {
	for _, condition := range status.Conditions {
		if condition.Type == kind {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// set writes a condition, which is true unless there is a reason. Its time is that of its last change.
func set(status *corev1.PodStatus, kind corev1.PodConditionType, whyNot string) {
	wanted := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: whyNot, LastTransitionTime: metav1.Now()}
	if whyNot != "" {
		wanted.Status = corev1.ConditionFalse
	}
	for i, condition := range status.Conditions {
		if condition.Type == kind {
			if condition.Status == wanted.Status {
				wanted.LastTransitionTime = condition.LastTransitionTime
			}
			status.Conditions[i] = wanted
			return
		}
	}
	status.Conditions = append(status.Conditions, wanted)
}
